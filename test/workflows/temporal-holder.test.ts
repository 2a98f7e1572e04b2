// The acts of the holder of Temporal through its API, and the end of each: the list is in docs/temporal-holder.md.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import {
  COLLECTION_WORKFLOW,
  OPERATOR_CALLED_BACK,
  PAYMENT_CHANGED,
  deliveryTaskQueue,
  LEDGER_CHECK_WORKFLOW,
  ledgerCheckScheduleId,
  operatorTaskQueue,
  PAYOUT_WORKFLOW,
  RECONCILIATION_WORKFLOW,
  reconciliationScheduleId,
  WHOLE_LEDGER_CHECK_WORKFLOW,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';
import type { SendResult } from '../../activities/send.ts';
import type { PayoutSnapshot } from '../../src/domain/payments/payout-progress.ts';
import { listHousekeeping } from '../../src/db/platform/housekeeping.ts';
import { temporal, temporalClient } from '../support/engines.ts';
import { fetchPayment, pay, untilState, type Payment } from '../support/payments.ts';
import { storedEvents } from '../support/payment-events.ts';
import { balanceOf, fetchPayout, fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { ACCEPTED, startScriptedOperator } from '../support/scripted-operator.ts';
import { scheduleOf, startSweep, sweep } from '../support/sweeps.ts';
import { temporalHolder, type TemporalHolder } from '../support/temporal-holder.ts';
import { eventually, LOST_CALLBACKS, ON_DEMAND } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { setWork } from '../db/work-rows.ts';
import { backlogTarget } from '../support/deliveries.ts';
import { inOpenTransaction } from '../db/rows.ts';

/** For a machine that does much else. */
const PATIENCE_MS = 90_000;
const AMOUNT = 1000;
const RELEASED_AND_PAID = ['payout.queued', 'payout.released', 'payout.succeeded'];
/** What a workflow is told of a payout. */
const RELEASED = {
  ...{ approvals: 1, approvalsRequired: 1, expiresAtMs: 0, sendDeadlineAtMs: Number.MAX_SAFE_INTEGER },
  ...{ isSendBegun: true, isAccepted: true, notFoundCount: 0, hasNotFoundEvidence: false },
};
const ended = () => undefined;
const REJECTION = { json: { reason: 'for a test' } };

describe('the holder of Temporal', function () {
  this.timeout(300_000);
  const operator = useFixture(startScriptedOperator);
  const testEnv = useTestEnvironment(() => ({
    startsServer: false,
    mtnMomoUrl: operator.url,
    environment: {
      ...LOST_CALLBACKS,
      MALIPO_STALE_AFTER_MS: '200',
      // What the operator leaves without an answer stays open for as long as a test needs.
      MALIPO_OPERATOR_TIMEOUT_MS: '20000',
      MALIPO_NOT_FOUND_GRACE_MS: '21000',
      MALIPO_PROMPT_DEADLINE_MS: '120000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '120000',
      ...ON_DEMAND,
      MALIPO_SCHEDULE_CHECK_EVERY_MS: '500',
      // After two attempts a delivery waits.
      MALIPO_DELIVERY_SCHEDULE_MS: '0,100,600000,600000',
    },
  }));
  let holder: TemporalHolder;
  let connection: Connection;
  let approver: Browser;
  let queue: string;

  before(async () => {
    connection = await Connection.connect({ address: (await temporal()).address });
    holder = temporalHolder(await temporalClient(), connection);
    queue = operatorTaskQueue(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX, 'mtn-momo');
    await testEnv.startServer({ MALIPO_ROLES: 'api,dispatcher' });
    await fund(testEnv, testEnv.merchant, 100_000);
    approver = await logInAs(testEnv, testEnv.merchant.id, 'approver');
  });
  beforeEach(() => {
    operator.answerPrompts(ACCEPTED);
    operator.setStatus({ status: 'SUCCESSFUL' });
  });
  after(async () => {
    await connection.close();
    await operator.stop();
  });

  async function releasedPayout(): Promise<Payment> {
    const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
    const response = await release(approver, payout);
    assert.equal(response.json['state'], 'released', response.text);
    return payout;
  }

  async function statusOf(workflowId: string, runId?: string): Promise<string | undefined> {
    const description = await (await temporalClient()).workflow.getHandle(workflowId, runId).describe();
    return description.status.name;
  }
  const untilStatus = (workflowId: string, status: string, runId?: string) =>
    eventually(
      `${workflowId} to be ${status}`,
      async () => (await statusOf(workflowId, runId)) === status,
      PATIENCE_MS,
    );

  /** Waits until the payout is paid; fails unless that took one of its amount, and one event for each state. */
  async function untilPaidOnce(payout: Payment, [available]: readonly [unknown, unknown]): Promise<void> {
    await untilPayoutState(testEnv, payout, 'succeeded', PATIENCE_MS);
    assert.deepEqual(await balanceOf(testEnv, testEnv.merchant), [Number(available) - AMOUNT, 0]);
    const types = (await storedEvents(testEnv.db, payout.id)).map(({ type }) => type);
    assert.deepEqual(types, RELEASED_AND_PAID);
  }

  /** Has the dispatcher look at once whether the payout’s workflow runs. */
  async function checkNow({ id }: Payment): Promise<void> {
    await setWork(testEnv.db, 'due_at = now()', 'id = $1', [id]);
  }

  it('takes tasks with a worker of their own, and so delays a payment, which our own worker then carries out', async () => {
    const payment = await pay(testEnv, '000');
    // There may be rechecks beside it.
    for (let taken = ''; taken !== payment.workflowId;) taken = await holder.takeTask(queue);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'initiated');
    await eventually('its start to be recorded, and its check to be due', async () => {
      const sql = 'UPDATE work SET due_at = now() WHERE id = $1 AND is_started';
      return (await testEnv.db.pool.query(sql, [payment.id])).rowCount === 1;
    });
    await testEnv.startServer({ MALIPO_ROLES: 'worker' });
    await untilState(testEnv, payment, 'succeeded', PATIENCE_MS);
    assert.equal(operator.prompts(payment.operatorReference), 1);
  });

  const SENDS = { accepted: 'released', refused: 'failed' } as const;
  for (const [what, state] of Object.entries(SENDS)) {
    it(`completes a send by hand as ${what}, and nothing of that is recorded: the operator’s own status decides`, async () => {
      const before = await balanceOf(testEnv, testEnv.merchant);
      operator.answerPrompts(() => undefined);
      const payout = await releasedPayout();
      await eventually('the send', () => operator.prompts(payout.operatorReference) > 0, PATIENCE_MS);
      const snapshot = { ...RELEASED, state } as PayoutSnapshot;
      const result = { kind: 'recorded', snapshot } as SendResult;
      await holder.complete(payout.workflowId, 'sendWithOperator', result);
      operator.answerPrompts(ACCEPTED);
      if (what === 'refused') {
        await untilStatus(payout.workflowId, 'COMPLETED');
        assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
        await checkNow(payout);
      }
      await untilPaidOnce(payout, before);
    });
  }

  it('fails a send by hand, which is tried again, and the payout is paid once', async () => {
    const before = await balanceOf(testEnv, testEnv.merchant);
    operator.answerPrompts(() => undefined);
    const payout = await releasedPayout();
    await eventually('the send', () => operator.prompts(payout.operatorReference) > 0, PATIENCE_MS);
    await holder.fail(payout.workflowId, 'sendWithOperator');
    operator.answerPrompts(ACCEPTED);
    await untilPaidOnce(payout, before);
  });

  it('sets a workflow back to its start, and nothing is sent or recorded again', async () => {
    const before = await balanceOf(testEnv, testEnv.merchant);
    const payout = await releasedPayout();
    await untilPaidOnce(payout, before);
    await untilStatus(payout.workflowId, 'COMPLETED');
    const sends = operator.prompts(payout.operatorReference);
    const runId = await holder.reset(payout.workflowId);
    await untilStatus(payout.workflowId, 'COMPLETED', runId);
    await untilPaidOnce(payout, before);
    assert.equal(operator.prompts(payout.operatorReference), sends);
  });

  it('cancels the workflow of a payout that waits for people, who release it nevertheless', async () => {
    const before = await balanceOf(testEnv, testEnv.merchant);
    const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
    const handle = (await temporalClient()).workflow.getHandle(payout.workflowId);
    await eventually('the workflow', () => handle.describe().catch(() => null), PATIENCE_MS);
    await handle.cancel();
    await untilStatus(payout.workflowId, 'CANCELLED');
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
    assert.equal((await release(approver, payout)).status, 200);
    await untilPaidOnce(payout, before);
  });

  it('starts more workflows for a payout, under other ids, and it is paid once', async () => {
    const before = await balanceOf(testEnv, testEnv.merchant);
    const client = await temporalClient();
    const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
    const input = { kind: 'payout', id: payout.id, merchantId: testEnv.merchant.id, operator: 'mtn-momo' };
    const others = [1, 2].map(() => `holder-${randomUUID()}`);
    for (const workflowId of others) {
      await client.workflow.start(PAYOUT_WORKFLOW, { workflowId, taskQueue: queue, args: [input] });
    }
    assert.equal((await release(approver, payout)).status, 200);
    for (const workflowId of others) await client.workflow.getHandle(workflowId).signal(PAYMENT_CHANGED);
    await untilPaidOnce(payout, before);
    for (const workflowId of others) await client.workflow.getHandle(workflowId).signal(PAYMENT_CHANGED).catch(ended);
    for (const workflowId of others) await untilStatus(workflowId, 'COMPLETED');
    await untilPaidOnce(payout, before);
  });

  it('starts a workflow for a payment of another kind, or of another merchant, and moves nothing', async () => {
    const client = await temporalClient();
    const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
    const other = await testEnv.addMerchant();
    const start = async (type: string, input: object) => {
      const workflowId = `holder-${randomUUID()}`;
      const args = [{ operator: 'mtn-momo', ...input }];
      await client.workflow.start(type, { workflowId, taskQueue: queue, args });
      return workflowId;
    };
    const ofOther = await start(PAYOUT_WORKFLOW, { kind: 'payout', id: payout.id, merchantId: other.id });
    await untilStatus(ofOther, 'FAILED');
    const asCollection = await start(COLLECTION_WORKFLOW, {
      kind: 'payout',
      id: payout.id,
      merchantId: testEnv.merchant.id,
    });
    await client.workflow.getHandle(asCollection).signal(OPERATOR_CALLED_BACK);
    const isQueried = () => operator.statusQueries(payout.operatorReference) > 0;
    await eventually('its status to be queried', isQueried, PATIENCE_MS);
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
    assert.equal(operator.prompts(payout.operatorReference), 0);
    await client.workflow.getHandle(asCollection).terminate();
    assert.equal((await approver.call('POST', `/v1/console/payouts/${payout.id}/reject`, REJECTION)).status, 200);
  });

  it('runs our activities with arguments of their own, which send nothing unreleased and record nothing unattested', async () => {
    const payout = await requestPayout(testEnv, '000', { amount: AMOUNT });
    const ref = { kind: 'payout', id: payout.id, merchantId: testEnv.merchant.id, operator: 'mtn-momo' };
    assert.deepEqual(await holder.run(queue, 'sendWithOperator', ref), { result: { kind: 'no_outcome' } });
    for (const transition of [{ kind: 'paid', operatorReceipt: '4711' }, { kind: 'prompt_accepted' }]) {
      const attested = { status: { kind: 'paid', operatorReceipt: '4711' }, queriedAtMs: Date.now() };
      const ran = await holder.run(queue, 'recordTransition', { ref, transition, attested });
      assert.deepEqual(ran, { failure: 'StatusMissing' });
    }
    const { id: merchantId } = await testEnv.addMerchant();
    assert.deepEqual(await holder.run(queue, 'loadPayment', { ...ref, merchantId }), { failure: 'payout_not_found' });
    assert.equal((await fetchPayout(testEnv, payout)).state, 'queued');
    assert.equal(operator.prompts(payout.operatorReference), 0);
    assert.equal((await approver.call('POST', `/v1/console/payouts/${payout.id}/reject`, REJECTION)).status, 200);
  });

  it('has a delivery sent early, to its own endpoint and to no other', async () => {
    const [merchant, other] = [await testEnv.addMerchant(), await testEnv.addMerchant()];
    testEnv.receiver.answerWith(merchant.id, (_received, response) => response.writeHead(500).end());
    const payment = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, payment, 'succeeded', PATIENCE_MS);
    const deliveryId = await eventually(
      'a delivery that waits',
      async () => {
        const { rows } = await testEnv.db.pool.query<{ id: string }>(
          `SELECT id FROM deliveries WHERE merchant_id = $1 AND state = 'retrying' AND next_attempt_at > now() + interval '1 min'`,
          [merchant.id],
        );
        return rows[0]?.id;
      },
      PATIENCE_MS,
    );
    testEnv.receiver.answerWith(merchant.id, null);
    const deliveries = deliveryTaskQueue(testEnv.config.settings.MALIPO_TASK_QUEUE_PREFIX);
    const { endpointId } = await backlogTarget(testEnv, other.id);
    const input = { deliveryId, replayCount: 0, endpointId };
    assert.deepEqual(await holder.run(deliveries, 'sendDelivery', input), { result: 'delivered' });
    assert.equal(testEnv.receiver.all(other.id).length, 0);
    assert.deepEqual(await holder.run(deliveries, 'sendDelivery', input), { result: 'not_owed' });
  });

  it('completes a check of the ledger by hand, which is not on record as done, unlike one that is made', async () => {
    const doneAsOf = async () =>
      (await listHousekeeping(testEnv.db)).find(({ task }) => task === 'whole_ledger_check')?.doneAsOf ?? null;
    const before = await doneAsOf();
    await inOpenTransaction(testEnv.db, async (client) => {
      // The check waits for it.
      await client.query('LOCK TABLE ledger_accounts IN ACCESS EXCLUSIVE MODE');
      const { workflowId } = await startSweep(testEnv, wholeLedgerCheckScheduleId);
      await holder.complete(workflowId, 'checkWholeLedger', []);
      await untilStatus(workflowId, 'COMPLETED');
      assert.deepEqual(await doneAsOf(), before);
    });
    const beganAt = new Date();
    assert.equal((await sweep(testEnv, wholeLedgerCheckScheduleId)).status, 'COMPLETED');
    const after = await doneAsOf();
    assert.ok(after !== null && after >= beganAt);
  });

  const TYPES = [
    [reconciliationScheduleId, RECONCILIATION_WORKFLOW],
    [ledgerCheckScheduleId, LEDGER_CHECK_WORKFLOW],
    [wholeLedgerCheckScheduleId, WHOLE_LEDGER_CHECK_WORKFLOW],
  ] as const;
  for (const [idFor, workflowType] of TYPES) {
    it(`removes, pauses, limits or misuses the schedule of ${workflowType}, and it runs again`, async () => {
      const schedule = await scheduleOf(testEnv, idFor);
      const isRestored = async () => {
        const found = await schedule.describe().catch(() => null);
        if (found === null || found.state.paused || found.state.remainingActions !== undefined) return false;
        return found.action.workflowType === workflowType && found.info.nextActionTimes.length > 0;
      };
      const untilRestored = () => eventually('the schedule to be restored', isRestored, PATIENCE_MS);
      await untilRestored();
      await schedule.delete();
      await untilRestored();
      await schedule.pause('for a test');
      await untilRestored();
      await schedule.update((previous) => ({ ...previous, state: { paused: false, remainingActions: 1 } }));
      await untilRestored();
      await schedule.update((previous) => ({
        ...previous,
        action: { ...previous.action, workflowType: 'holderWorkflow' },
      }));
      await untilRestored();
    });
  }
});

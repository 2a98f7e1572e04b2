// Statuses that contradict a final payment: callbacks, rechecks, discrepancies, and statuses that no operator gave.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { checkLedger } from '../../../src/operations/payments/check-ledger.ts';
import { findOpenDiscrepancies } from '../../../src/db/payments/discrepancy.ts';
import { settleDiscrepancy } from '../../../src/operations/payments/settle-discrepancy.ts';
import type { PaymentState } from '../../../src/domain/payments/payment.ts';
import { OPERATOR_CALLED_BACK } from '../../../workflows/contract.ts';
import { json } from '../../operators/stub-operator.ts';
import { AMINA } from '../../support/staff.ts';
import { temporalClient } from '../../support/engines.ts';
import {
  eventually,
  ON_DEMAND,
  startTestEnvironment,
  type TestEnvironment,
  type TestMerchant,
} from '../../support/test-environment.ts';
import { assertLedgerIsSound, callBack, fetchPayment, pay, untilState, type Payment } from '../../support/payments.ts';
import {
  balanceOf,
  fetchPayout,
  fund,
  release,
  releaseRefund,
  requestPayout,
  untilAccepted,
  type Payout,
  untilPayoutState,
} from '../../support/payouts.ts';
import { logInAs } from '../../support/people.ts';
import type { Browser } from '../../support/browser.ts';
import { startScriptedOperator, type ScriptedOperator } from '../../support/scripted-operator.ts';
import { scheduleOf, sweep } from '../../support/sweeps.ts';
import { valuesOf } from '../../support/values-of.ts';
import { makeRecheckDue } from '../../db/work-rows.ts';
import { expireIdempotencyKey } from '../../db/rows.ts';

const PAID = { status: 'SUCCESSFUL' } as const;
const REFUSED = { status: 'FAILED', reason: 'PAYEE_NOT_FOUND' } as const;
const RETURNED = { status: 'FAILED', reason: 'TRANSACTION_REVERSED' } as const;

describe('an operator that contradicts a final payment', () => {
  let testEnv: TestEnvironment;
  let operator: ScriptedOperator;
  let merchant: TestMerchant;
  let owner: Browser;

  before(async () => {
    operator = await startScriptedOperator();
    testEnv = await startTestEnvironment({
      mtnMomoUrl: operator.url,
      environment: {
        // A status query without an answer stays open for as long as a test needs.
        MALIPO_OPERATOR_TIMEOUT_MS: '15000',
        MALIPO_NOT_FOUND_GRACE_MS: '16000',
        ...ON_DEMAND,
        MALIPO_STALE_AFTER_MS: '200',
      },
    });
    await eventually('the schedule', async () => (await scheduleOf(testEnv)).describe().catch(() => null));
  });
  beforeEach(async () => {
    operator.ignoreStatusQueries(false);
    merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 20_000);
    owner = await logInAs(testEnv, merchant.id, 'owner');
  });
  after(async () => {
    operator.ignoreStatusQueries(false);
    await testEnv.stop();
    await operator.stop();
  });

  async function finalPayout(
    status: typeof PAID | typeof REFUSED,
    idempotencyKey: string = randomUUID(),
  ): Promise<Payout> {
    operator.setStatus(status);
    const payout = await requestPayout(testEnv, '000', { merchant, idempotencyKey });
    assert.equal((await release(owner, payout)).status, 200);
    await untilPayoutState(testEnv, payout, status === PAID ? 'succeeded' : 'failed');
    await untilClosed(payout.workflowId);
    return payout;
  }

  async function finalCollection(status: typeof PAID | typeof REFUSED): Promise<Payment> {
    operator.setStatus(status);
    const payment = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, payment, status === PAID ? 'succeeded' : 'failed');
    await untilClosed(payment.workflowId);
    return payment;
  }

  /** Both nouns, with the balance that each leaves once it has succeeded. */
  const KINDS = [
    { noun: 'payout', make: finalPayout, fetch: fetchPayout, paidMinor: 15_000 },
    { noun: 'collection', make: finalCollection, fetch: fetchPayment, paidMinor: 25_000 },
  ] as const;

  async function untilClosed(workflowId: string): Promise<void> {
    const handle = (await temporalClient()).workflow.getHandle(workflowId);
    await eventually(`${workflowId} to end`, async () => {
      const description = await handle.describe().catch(() => null);
      return description?.status.name === 'COMPLETED';
    });
  }

  /** Does what leads to a recheck of the payment, and waits until the recheck has ended. */
  async function untilQueried({ id, operatorReference }: Payment, act: () => Promise<unknown>): Promise<void> {
    const before = operator.statusQueries(operatorReference);
    await act();
    await eventually('the recheck to end', async () => {
      const sql = 'SELECT FROM work WHERE id = $1 AND claimed_until IS NOT NULL';
      const { rowCount } = await testEnv.db.pool.query(sql, [id]);
      return operator.statusQueries(operatorReference) > before && rowCount === 0;
    });
  }

  async function discrepanciesSeenBy(browser: Browser): Promise<unknown[]> {
    const { json } = await browser.call('GET', '/v1/console/audit?limit=100');
    return (json['data'] as { action: string; person: unknown; subject_id: string; after: { kind: string } }[])
      .filter(({ action }) => action.endsWith('.discrepancy_found'))
      .map(({ subject_id: subject, person, after }) => [subject, person, after.kind]);
  }

  it('does not pay two payouts with one receipt: the second keeps its money held until the operator says otherwise', async () => {
    const [receipt, otherReceipt] = [randomUUID(), randomUUID()];
    const sent = async () => {
      const payout = await requestPayout(testEnv, '000', { merchant });
      assert.equal((await release(owner, payout)).status, 200);
      return payout;
    };
    operator.setStatus({ ...PAID, financialTransactionId: receipt });
    await untilPayoutState(testEnv, await sent(), 'succeeded');
    const payout = await sent();
    await untilPayoutState(testEnv, payout, 'reconciling');
    assert.deepEqual(await balanceOf(testEnv, merchant), [10_000, 5000]);
    await eventually('the discrepancy', async () => (await discrepanciesSeenBy(owner)).length > 0);
    assert.deepEqual(await discrepanciesSeenBy(owner), [[payout.id, null, 'receipt_reused']]);
    operator.setStatus({ ...PAID, financialTransactionId: otherReceipt });
    await untilPayoutState(testEnv, payout, 'succeeded');
    assert.deepEqual(await balanceOf(testEnv, merchant), [10_000, 0]);
    for (const { id } of await findOpenDiscrepancies(testEnv.db, 10)) {
      await settleDiscrepancy(testEnv.db, { id, how: 'looked into by the test', by: AMINA, at: new Date() });
    }
  });

  for (const { noun, make, fetch, paidMinor } of KINDS) {
    it(`is queried once for any number of callbacks about a failed ${noun}, and only by a recheck`, async () => {
      const payment = await make(REFUSED);
      const queriesBefore = operator.statusQueries(payment.operatorReference);
      await untilQueried(payment, async () => {
        for (let i = 0; i < 25; i++) await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
      });
      assert.equal(operator.statusQueries(payment.operatorReference), queriesBefore + 1);
      assert.equal((await sweep(testEnv)).status, 'COMPLETED');
      // Callbacks that came after the recheck had begun lead to another one, later: how many did is a matter of speed.
      const { rows } = await testEnv.db.pool.query(
        `SELECT coalesce(bool_or(task = 'status_query' AND due_at < interval '1 minute' + (
                  SELECT min(received_at) FROM operator_callbacks WHERE payment_id = $1)), false) AS is_due_soon,
                coalesce(bool_or(NOT is_started), false) AS is_waiting FROM work WHERE id = $1`,
        [payment.id],
      );
      assert.deepEqual(rows, [{ is_due_soon: false, is_waiting: false }]);
      assert.equal(operator.statusQueries(payment.operatorReference), queriesBefore + 1);
      assert.deepEqual(await discrepanciesSeenBy(owner), []);
      assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
    });

    it(`is shown to the merchant and in the ledger check when it paid a failed ${noun}, and nothing is posted`, async () => {
      const payment = await make(REFUSED);
      operator.setStatus(PAID);
      for (let time = 1; time <= 2; time++) {
        await untilQueried(payment, async () => {
          await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
          // The recheck that a second callback leads to is due a minute later.
          await makeRecheckDue(testEnv.db, payment.id);
        });
      }
      assert.deepEqual(await discrepanciesSeenBy(owner), [[payment.id, null, 'paid_after_failed']]);
      // Payments of earlier tests may have been rechecked, and contradicted again, since.
      const subjects = valuesOf(await checkLedger(testEnv.db), 'subject').filter((subject) => subject === payment.id);
      assert.deepEqual(subjects, [payment.id]);
      assert.equal((await fetch(testEnv, payment)).state, 'failed');
      assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
      await settleAll();
    });

    it(`is shown when it declined a succeeded ${noun}`, async () => {
      const payment = await make(PAID);
      operator.setStatus(REFUSED);
      await callBack(testEnv, payment.operatorReference, 'FAILED');
      await eventually('the discrepancy', async () => (await discrepanciesSeenBy(owner)).length > 0);
      assert.deepEqual(await discrepanciesSeenBy(owner), [[payment.id, null, 'declined_after_paid']]);
      assert.equal((await fetch(testEnv, payment)).state, 'succeeded');
      assert.deepEqual(await balanceOf(testEnv, merchant), [paidMinor, 0]);
      await settleAll();
    });

    it(`is queried again by a later recheck when it gave no status of a failed ${noun}`, async () => {
      const payment = await make(REFUSED);
      operator.answerStatusQueries((response) => response.writeHead(503).end());
      await untilQueried(payment, () => callBack(testEnv, payment.operatorReference, 'SUCCESSFUL'));
      operator.answerStatusQueries(null);
      operator.setStatus(PAID);
      await eventually('the discrepancy', async () => {
        await sweep(testEnv);
        return (await discrepanciesSeenBy(owner)).length > 0;
      });
      await settleAll();
    });
  }

  it('is shown without a sweep when it paid a collection whose failure is just being recorded', async () => {
    operator.setStatus({ status: 'PENDING' });
    const payment = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, payment, 'prompted');
    const openQueries: ServerResponse[] = [];
    // Of this payment alone: earlier ones may be rechecked meanwhile, and a callback must find its own query open.
    operator.answerStatusQueries((response, { path }) => {
      if (path.endsWith(payment.operatorReference)) openQueries.push(response);
      else response.writeHead(503).end();
    });
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await eventually('a status query', () => openQueries.length > 0);
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
    await eventually('both callbacks to be signalled', async () => {
      const { events } = await handle.fetchHistory();
      return events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length === 2;
    });
    operator.setStatus(PAID);
    operator.answerStatusQueries(null);
    const refusal = { amount: '5000', currency: 'UGX', externalId: payment.operatorReference, ...REFUSED };
    for (const response of openQueries) json(200, refusal)(response);
    await eventually('the discrepancy', async () => (await discrepanciesSeenBy(owner)).length > 0);
    assert.deepEqual(await discrepanciesSeenBy(owner), [[payment.id, null, 'paid_after_failed']]);
    assert.equal((await fetchPayment(testEnv, payment)).state, 'failed');
    await settleAll();
  });

  it('is shown when it paid a failed refund, and the collection stays succeeded', async () => {
    operator.setStatus(PAID);
    const payment = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, payment, 'succeeded');
    operator.setStatus(REFUSED);
    const path = `/v1/console/collections/${payment.id}/reversal`;
    const { json } = await owner.call('POST', path, { idempotencyKey: randomUUID() });
    const approver = await logInAs(testEnv, merchant.id, 'approver');
    assert.equal((await releaseRefund(approver, String(json['id']))).status, 200);
    await eventually('the refund to fail', async () => (await owner.call('GET', path)).json['state'] === 'failed');
    operator.setStatus(PAID);
    await callBack(testEnv, String(json['operator_reference']), 'SUCCESSFUL');
    await eventually('the discrepancy', async () => {
      await sweep(testEnv);
      return (await discrepanciesSeenBy(owner)).length > 0;
    });
    assert.deepEqual(await discrepanciesSeenBy(owner), [[json['id'], null, 'paid_after_failed']]);
    await untilState(testEnv, payment, 'succeeded');
    await settleAll();
  });

  it('can reverse an old payout whose key is in use again, and the new payout’s workflow gets no signal', async () => {
    const idempotencyKey = randomUUID();
    const old = await finalPayout(PAID, idempotencyKey);
    await expireIdempotencyKey(testEnv.db, idempotencyKey);
    const queued = await requestPayout(testEnv, '000', { merchant, idempotencyKey });
    assert.equal(queued.workflowId, old.workflowId);
    operator.setStatus(RETURNED);
    await callBack(testEnv, old.operatorReference, 'FAILED');
    await untilPayoutState(testEnv, old, 'reversed');
    assert.equal((await fetchPayout(testEnv, queued)).state, 'queued');
    const handle = (await temporalClient()).workflow.getHandle(queued.workflowId);
    await eventually('the new workflow', () => handle.describe().catch(() => null));
    const { events } = await handle.fetchHistory();
    const signals = (events ?? []).map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
    assert.ok(!signals.includes(OPERATOR_CALLED_BACK));
  });

  it('can reverse an old collection whose key is in use again', async () => {
    operator.setStatus(PAID);
    const idempotencyKey = randomUUID();
    const old = await pay(testEnv, '000', { merchant, idempotencyKey });
    await untilState(testEnv, old, 'succeeded');
    await untilClosed(old.workflowId);
    await expireIdempotencyKey(testEnv.db, idempotencyKey);
    operator.setStatus({ status: 'PENDING' });
    const recent = await pay(testEnv, '000', { merchant, idempotencyKey });
    await untilState(testEnv, recent, 'prompted');
    operator.setStatus(RETURNED);
    await callBack(testEnv, old.operatorReference, 'FAILED');
    await untilState(testEnv, old, 'reversed');
  });

  it('cannot be impersonated by a manually completed status query of a payout: its money stays held', async () => {
    operator.setStatus(PAID);
    operator.ignoreStatusQueries(true);
    const payout = await requestPayout(testEnv, '000', { merchant });
    assert.equal((await release(owner, payout)).status, 200);
    // The run itself queries the status only after a callback that comes later than the send.
    await untilAccepted(testEnv, payout);
    await callBack(testEnv, payout.operatorReference, 'SUCCESSFUL');
    await completeQueryManually(payout.workflowId, 'failed');
    assert.equal((await fetchPayout(testEnv, payout)).state, 'released');
    assert.deepEqual(await balanceOf(testEnv, merchant), [15_000, 5_000]);
    operator.ignoreStatusQueries(false);
    await eventually('the sweep to start it again', async () => {
      await sweep(testEnv);
      return (await fetchPayout(testEnv, payout)).state === 'succeeded';
    });
    assert.deepEqual(await balanceOf(testEnv, merchant), [15_000, 0]);
    await assertLedgerIsSound(testEnv.db);
  });

  it('cannot be impersonated by a manually completed status query of a collection: nothing is credited', async () => {
    operator.setStatus({ status: 'PENDING' });
    operator.ignoreStatusQueries(true);
    const payment = await pay(testEnv, '000', { merchant });
    await untilState(testEnv, payment, 'prompted');
    await callBack(testEnv, payment.operatorReference, 'SUCCESSFUL');
    await completeQueryManually(payment.workflowId, 'succeeded');
    assert.equal((await fetchPayment(testEnv, payment)).state, 'prompted');
    assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
  });

  it('cannot be impersonated about a final payment, of which Temporal is asked nothing', async () => {
    const payout = await finalPayout(PAID);
    await untilQueried(payout, () => callBack(testEnv, payout.operatorReference, 'FAILED'));
    const query = `MalipoResourceId = '${payout.id}'`;
    const { count } = await (await temporalClient()).workflow.count(query);
    assert.equal(count, 1);
    assert.deepEqual(await discrepanciesSeenBy(owner), []);
  });

  /** Completes the workflow's open status query, as a user of Temporal can, with a payment in this state; returns when the workflow has ended. */
  async function completeQueryManually(workflowId: string, state: PaymentState): Promise<void> {
    const client = await temporalClient();
    const handle = client.workflow.getHandle(workflowId);
    const queried = { kind: 'queried', snapshot: { state }, hasStatus: true };
    await eventually('a status query to be completed manually', async () => {
      const description = await handle.describe().catch(() => null);
      const query = description?.raw.pendingActivities?.find(
        ({ activityType }) => activityType?.name?.includes('Status') === true,
      );
      if (typeof query?.activityId !== 'string') return false;
      return client.activity.complete({ workflowId, activityId: query.activityId }, queried).then(
        () => true,
        () => false,
      );
    });
    await untilClosed(workflowId);
  }

  async function settleAll(): Promise<void> {
    await testEnv.db.pool.query(
      `UPDATE discrepancies SET settled_at = now(), settled_how = 'settled by a test' WHERE settled_at IS NULL`,
    );
  }
});

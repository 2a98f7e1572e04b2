// Runs that are open and cannot progress, as after a release whose code does not replay them: the service replaces them.
import assert from 'node:assert/strict';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { countReplacedRuns } from '../../src/db/work/backlog.ts';
import type { CollectionId } from '../../src/domain/ids.ts';
import { giveUpRun } from '../../src/operations/give-up-run.ts';
import type { RunningServer } from '../../src/server/assemble-server.ts';
import { dueOf, findWork } from '../db/work-rows.ts';
import { pay, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, fund, release, requestPayout, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import { eventually, LOST_CALLBACKS } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { alteredBundle } from '../support/altered-bundle.ts';
import { countRows } from '../db/rows.ts';

/** A run that records nothing counts as late after a second, and a payment is open for long. */
const SOON_LATE = {
  ...LOST_CALLBACKS,
  MALIPO_STALE_AFTER_MS: '1000',
  MALIPO_PROMPT_WINDOW_MS: '2000',
  MALIPO_RECONCILE_FOR_MS: '600000',
};

/** The present workflows with one step more at `passage`: histories of theirs cannot be replayed by the present code. */
function bundleWithAnotherStep(passage: string, step: string): Promise<WorkflowBundleWithSourceMap> {
  return alteredBundle(passage, passage.endsWith('{') ? `${passage}${step}` : `${step}${passage}`);
}

describe('a run that is open and cannot progress', () => {
  // The run is told of the outcome that a query finds.
  const testEnv = useTestEnvironment({
    environment: { ...SOON_LATE, MALIPO_POLL_SCHEDULE_MS: '2000', MALIPO_PAYOUT_SEND_DEADLINE_MS: '40000' },
    sandboxTimes: { decisionMs: 1500, promptExpiryMs: 60_000 },
    startsServer: false,
  });
  let server: RunningServer | null = null;

  /** The old code starts the payment; once `isUnderWay` the new code takes over. */
  async function changeCode(passage: string, step: string, begin: () => Promise<void>): Promise<void> {
    await server?.stop();
    server = await testEnv.startServer({}, { workflowBundle: await bundleWithAnotherStep(passage, step) });
    await begin();
    await server.stop();
    server = await testEnv.startServer();
  }

  after(() => server?.stop());

  it('is replaced, and the paid collection is recorded once', async () => {
    let payment!: Awaited<ReturnType<typeof pay>>;
    await changeCode('const { snapshot, clocks } = result;', 'await loadPayment(input);', async () => {
      payment = await pay(testEnv, '004');
      await untilState(testEnv, payment, 'prompted');
    });
    await untilState(testEnv, payment, 'succeeded', 60_000);
    assert.match(transitionsOf(await untilAllReceived(testEnv, payment)).at(-1) ?? '', / > succeeded late$/);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });

  it('is replaced between release and outcome, and the payout is sent once', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 50_000);
    let payout!: Awaited<ReturnType<typeof requestPayout>>;
    await changeCode(
      "if (snapshot.state === 'released' && snapshot.sendAgainAtMs === undefined) {",
      'await load();',
      async () => {
        const approver = await logIn(testEnv, await addPerson(testEnv, merchant.id, ['approver']));
        payout = await requestPayout(testEnv, '004', { merchant });
        assert.equal((await release(approver, payout)).status, 200);
        await eventually('the payout to be sent', async () => (await transfersAccepted(testEnv, payout)) === 1);
      },
    );
    await untilPayoutState(testEnv, payout, 'succeeded', 60_000);
    assert.equal(await transfersAccepted(testEnv, payout), 1);
    assert.deepEqual(await balanceOf(testEnv, merchant), [45_000, 0]);
  });

  it('is in the merchant’s audit log and the metrics once it was replaced', async () => {
    const replaced = `SELECT DISTINCT action FROM audit_entries WHERE action LIKE '%.workflow_replaced'`;
    await eventually('both to be replaced', async () => (await testEnv.db.pool.query(replaced)).rowCount === 2, 60_000);
    const { rows } = await testEnv.db.pool.query<{
      action: string;
      outcome: string;
      reason: string;
      user: string | null;
    }>(
      `SELECT action, outcome, after ->> 'reason' AS reason, user_id AS user FROM audit_entries
       WHERE action LIKE '%.workflow_replaced' ORDER BY action`,
    );
    assert.deepEqual(
      [...new Map(rows.map((row) => [row.action, row])).values()],
      [
        { action: 'collection.workflow_replaced', outcome: 'done', reason: 'workflow_task_fails', user: null },
        { action: 'payout.workflow_replaced', outcome: 'done', reason: 'workflow_task_fails', user: null },
      ],
    );
    assert.equal(await countReplacedRuns(testEnv.db), rows.length);
  });

  it('is replaced when the process that gave it up died before it ended the run', async () => {
    let payment!: Awaited<ReturnType<typeof pay>>;
    await changeCode('const { snapshot, clocks } = result;', 'await loadPayment(input);', async () => {
      payment = await pay(testEnv, '004');
      await untilState(testEnv, payment, 'prompted');
    });
    const work = { kind: 'collection', id: payment.id as CollectionId, merchantId: payment.merchant.id } as const;
    const dueAt = await dueOf(testEnv.db, work.id);
    const given = { runId: 'run', reason: 'workflow_task_fails', leaseMs: 0, at: new Date() } as const;
    await giveUpRun(testEnv.db, { ...given, work: { ...work, dueAt } });
    await untilState(testEnv, payment, 'succeeded', 60_000);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });

  it('is not given up any more when its work has changed meanwhile', async () => {
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    const work = { kind: 'collection', id: payment.id as CollectionId, merchantId: payment.merchant.id } as const;
    const given = { runId: 'run', reason: 'no_progress', leaseMs: 0, at: new Date() } as const;
    assert.equal(await giveUpRun(testEnv.db, { ...given, work: { ...work, dueAt: new Date(0) } }), null);
  });
});

describe('a run that has something to do and does nothing', () => {
  const testEnv = useTestEnvironment({
    environment: { ...SOON_LATE, MALIPO_POLL_SCHEDULE_MS: '1000', MALIPO_RECONCILE_SCHEDULE_MS: '1000' },
    startsServer: false,
  });

  it('is replaced, and the paid collection is recorded', async () => {
    // A step of the run is lost, as after a restore of Temporal's own database.
    const passage = 'const result = await orNull(atOnce';
    const waiting = await alteredBundle(passage, `await new Promise(() => {});${passage}`);
    const server = await testEnv.startServer({}, { workflowBundle: waiting });
    const payment = await pay(testEnv, '004');
    await eventually('its start', async () => (await findWork(testEnv.db, payment.id))?.isStarted);
    await server.stop();
    await testEnv.startServer();
    await untilState(testEnv, payment, 'succeeded', 60_000);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('a delivery whose run is open and cannot progress', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_STALE_AFTER_MS: '1000',
      MALIPO_DELIVERY_SCHEDULE_MS: '0,8000,500,500,500,500,500,500,500,500',
    },
    startsServer: false,
  });

  it('is delivered by the run that replaces it', async () => {
    const passage = 'if (due === null)';
    const another = await alteredBundle(passage, `await loadDelivery({ deliveryId, replayCount });${passage}`);
    const server = await testEnv.startServer({}, { workflowBundle: another });
    testEnv.receiver.answerWith(testEnv.merchant.id, (_received, response) => {
      response.writeHead(500).end();
    });
    const payment = await pay(testEnv, '000');
    await untilState(testEnv, payment, 'succeeded');
    await eventually('the runs of its deliveries', async () => {
      const { rows } = await testEnv.db.pool.query<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM deliveries d JOIN work w ON w.id = d.id AND w.is_started
         WHERE d.state = 'retrying' AND d.next_attempt_at > now()`,
      );
      return (rows[0]?.waiting ?? 0) > 0;
    });
    await server.stop();
    testEnv.receiver.answerWith(testEnv.merchant.id, null);
    await testEnv.startServer();
    await eventually(
      'every delivery to be delivered',
      async () => {
        return (await countRows(testEnv.db, "deliveries WHERE state <> 'delivered'")) === 0;
      },
      60_000,
    );
  });
});

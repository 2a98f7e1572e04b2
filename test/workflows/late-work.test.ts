// Work that is late: lost workflows are started again, runs in order are left alone, and final payments are rechecked.
import assert from 'node:assert/strict';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { temporalClient } from '../support/engines.ts';
import { assertLedgerIsSound, availableBalance, pay, untilState, type Payment } from '../support/payments.ts';
import { decideAtSandbox, promptsRaised } from '../support/sandbox-operator.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, fund, release, requestPayout, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import { eventually, LOST_CALLBACKS } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { findWork, setWork } from '../db/work-rows.ts';

async function runsOf({ workflowId }: Payment): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  const client = await temporalClient();
  for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(run);
  return runs;
}

describe('a prompted payment whose run was lost', () => {
  const testEnv = useTestEnvironment({
    // Nobody asks the operator by schedule.
    environment: { MALIPO_POLL_SCHEDULE_MS: '600000', MALIPO_STALE_AFTER_MS: '600000' },
  });

  it('gets a workflow again, which its next callback finds, and succeeds', async () => {
    const payment = await pay(testEnv, '010');
    const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
    await untilState(testEnv, payment, 'prompted');
    await handle.terminate('for a test');
    await setWork(testEnv.db, 'due_at = now()', 'id = $1', [payment.id]);
    await eventually('another run', async () => (await runsOf(payment)).length === 2);
    await decideAtSandbox(testEnv, 'handset', { reference: payment.operatorReference, choice: 'approve', pin: '1234' });
    await untilState(testEnv, payment, 'succeeded');
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
    await assertLedgerIsSound(testEnv.db);
  });

  it('succeeds without one when the operator is asked by schedule, and Temporal is told nothing more', async () => {
    const payment = await pay(testEnv, '010');
    const handle = (await temporalClient()).workflow.getHandle(payment.workflowId);
    await untilState(testEnv, payment, 'prompted');
    await handle.terminate('for a test');
    await decideAtSandbox(testEnv, 'handset', { reference: payment.operatorReference, choice: 'approve', pin: '1234' });
    await untilState(testEnv, payment, 'succeeded');
    await eventually('its work to be done', async () => {
      await setWork(testEnv.db, 'due_at = now()', 'id = $1 AND is_started', [payment.id]);
      return (await findWork(testEnv.db, payment.id)) === null;
    });
    assert.equal((await runsOf(payment)).length, 1);
  });
});

describe('work that is late', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...LOST_CALLBACKS,
      MALIPO_STALE_AFTER_MS: '200',
      MALIPO_LATE_CHECK_AGES_MS: '200,400,800,1600,3200,6400,12800,25600,51200',
      MALIPO_PROMPT_WINDOW_MS: '800',
      MALIPO_RECONCILE_FOR_MS: '300',
      MALIPO_RECONCILE_SCHEDULE_MS: '100',
    },
    // Long after it has expired, also on a slow machine.
    sandboxTimes: { undecidedMs: 8000 },
  });

  it('is an expired payment that was paid, even when the callback was lost', async () => {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, '009', { merchant });
    await untilState(testEnv, payment, 'expired');
    assert.equal(await availableBalance(testEnv, merchant), 0);
    await eventually('the late success', async () => (await availableBalance(testEnv, merchant)) === payment.amount);
    const transitions = transitionsOf(await untilAllReceived(testEnv, payment));
    assert.deepEqual(transitions.slice(-2), ['reconciling > expired', 'expired > succeeded late']);
    assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  });
});

describe('a released payout whose run was lost', () => {
  const testEnv = useTestEnvironment({
    environment: { MALIPO_STALE_AFTER_MS: '600000', MALIPO_PAYOUT_SEND_DEADLINE_MS: '40000' },
    startsServer: false,
  });

  it('is still sent before its send deadline', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 50_000);
    await testEnv.startServer({ MALIPO_ROLES: 'api' });
    const approver = await logIn(testEnv, await addPerson(testEnv, merchant.id, ['approver']));
    const payout = await requestPayout(testEnv, '000', { merchant });
    const isSignalled = async () => {
      const { rows } = await testEnv.db.pool.query<{ yes: boolean }>(
        `SELECT is_started AS yes FROM work WHERE id = $1 AND task = 'workflow'`,
        [payout.id],
      );
      return rows[0]?.yes === true;
    };
    await eventually('the start to be recorded', isSignalled);
    assert.equal((await release(approver, payout)).status, 200);
    await eventually('the signal to be recorded', isSignalled);
    await (await temporalClient()).workflow.getHandle(payout.workflowId).terminate('for a test');
    await testEnv.startServer({ MALIPO_ROLES: 'worker,dispatcher' });
    await untilPayoutState(testEnv, payout, 'succeeded', 60_000);
    assert.equal(await transfersAccepted(testEnv, payout), 1);
    assert.deepEqual(await balanceOf(testEnv, merchant), [45_000, 0]);
  });
});

describe('late work whose run is open and progresses', () => {
  const testEnv = useTestEnvironment({ environment: { MALIPO_PROMPT_WINDOW_MS: '600000' } });

  it('gets no second run, and is checked again later', async () => {
    const payment = await pay(testEnv, '099');
    await untilState(testEnv, payment, 'prompted');
    const dueAt = async () => {
      const row = await findWork(testEnv.db, payment.id);
      assert.equal(row?.isStarted, true);
      return row.dueAt?.getTime() ?? 0;
    };
    await setWork(testEnv.db, "due_at = now() - interval '1 hour'", 'id = $1', [payment.id]);
    await eventually('the check', async () => (await dueAt()) > Date.now());
    assert.equal((await runsOf(payment)).length, 1);
  });
});

// Rechecks of final payments: made in batches, and followed by a workflow of the payment only when something is new.
import assert from 'node:assert/strict';
import { recheckWorkflowId } from '../../src/temporal/workflow-ids.ts';
import type { CollectionId, PayoutId } from '../../src/domain/ids.ts';
import { rechecksWorkflowId } from '../../workflows/contract.ts';
import { makeCollection, makeMerchant, tamper } from '../db/rows.ts';
import { temporalClient } from '../support/engines.ts';
import { pay, untilState, type Payment } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, fund, release, requestPayout, untilPayoutState } from '../support/payouts.ts';
import { addPerson, logIn } from '../support/people.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

async function runsOf(workflowId: string): Promise<{ status: string; result: () => Promise<unknown> }[]> {
  const client = await temporalClient();
  const runs: { status: string; result: () => Promise<unknown> }[] = [];
  for await (const { runId, status } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    // Not awaited for every run: the result of one that is still open when the tests end is an error that nobody handles.
    runs.push({ status: status.name, result: () => client.workflow.getHandle(workflowId, runId).result() });
  }
  return runs;
}

/** The recheck itself records what is news; the workflow follows it. */
async function untilOneRun(workflowId: string): Promise<void> {
  await eventually(`a run of ${workflowId}`, async () => (await runsOf(workflowId)).length > 0);
  assert.equal((await runsOf(workflowId)).length, 1);
}

const rechecksOf = ({ config }: TestEnvironment) =>
  rechecksWorkflowId(config.settings.MALIPO_TASK_QUEUE_PREFIX, 'mtn-momo');

async function areAllDone({ db }: TestEnvironment): Promise<boolean> {
  const { rows } = await db.pool.query<{ due: number }>(
    `SELECT count(*)::int AS due FROM work
     WHERE kind = 'collection' AND claimed_until IS NOT NULL OR due_at < now() + interval '1 hour'`,
  );
  return rows[0]?.due === 0;
}

describe('money that the operator returned without a callback that arrives', () => {
  const testEnv = useTestEnvironment({
    environment: {
      MALIPO_CALLBACK_URL: 'http://127.0.0.1:1',
      MALIPO_RETURN_CHECK_AGES_MS: '300,2500,5000,10000,20000,40000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '40000',
    },
  });

  it('is found by a late check of the collection, and taken from the balance', async () => {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, '015', { merchant });
    await untilState(testEnv, payment, 'succeeded');
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    assert.equal(transitionsOf(await untilAllReceived(testEnv, payment)).at(-1), 'succeeded > reversed');
    await untilOneRun(recheckWorkflowId(payment.id as CollectionId));
  });

  it('is found by a late check of the payout, and given back to the merchant', async () => {
    const merchant = await testEnv.addMerchant();
    await fund(testEnv, merchant, 20_000);
    const approver = await logIn(testEnv, await addPerson(testEnv, merchant.id, ['approver']));
    const payout = await requestPayout(testEnv, '015', { merchant });
    assert.equal((await release(approver, payout)).status, 200);
    await untilPayoutState(testEnv, payout, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
    await untilOneRun(recheckWorkflowId(payout.id as PayoutId));
  });
});

describe('the recheck of many final payments', () => {
  const operator = useFixture(startScriptedOperator, (stub) => stub.stop());
  const testEnv = useTestEnvironment(() => ({
    environment: {
      MALIPO_MTN_MOMO_BASE_URL: operator.url,
      MALIPO_POLL_SCHEDULE_MS: '100',
      MALIPO_PROMPT_WINDOW_MS: '400',
      MALIPO_RECONCILE_SCHEDULE_MS: '100',
      MALIPO_RECONCILE_FOR_MS: '300',
      MALIPO_LATE_CHECK_AGES_MS: '86400000,172800000',
      // No claim ends before its batch, however slow the machine is.
      MALIPO_STALE_AFTER_MS: '600000',
    },
  }));
  const makeDue = () =>
    tamper(testEnv.db, `UPDATE work SET due_at = now() WHERE kind = 'collection' AND task = 'recheck'`);

  it('queries each once, in one run, and starts a workflow only for what is news', async () => {
    operator.setStatus({ status: 'PENDING' });
    const payments = await Promise.all(['000', '001', '002'].map((row) => pay(testEnv, row)));
    for (const payment of payments) await untilState(testEnv, payment, 'expired');
    const queries = payments.map(({ operatorReference }) => operator.statusQueries(operatorReference));
    await makeDue();
    await eventually('the rechecks', () => areAllDone(testEnv));
    assert.deepEqual(
      payments.map(({ operatorReference }) => operator.statusQueries(operatorReference)),
      queries.map((count) => count + 1),
    );
    const ownRuns = async ({ id }: Payment) => (await runsOf(recheckWorkflowId(id as CollectionId))).length;
    for (const payment of payments) assert.equal(await ownRuns(payment), 0);

    operator.setStatus({ status: 'SUCCESSFUL' });
    await makeDue();
    for (const payment of payments) await untilState(testEnv, payment, 'succeeded');
    for (const { id } of payments) await untilOneRun(recheckWorkflowId(id as CollectionId));
  });
});

describe('the recheck of more final payments than a batch has', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('goes on in the same run while a batch is full', async () => {
    // The operator knows none of them: that is a status, and not news.
    const merchantId = await makeMerchant(testEnv.db);
    for (let i = 0; i < 230; i++) await makeCollection(testEnv.db, merchantId, 'expired');
    await tamper(testEnv.db, `UPDATE work SET due_at = now() WHERE kind = 'collection'`);
    await testEnv.startServer({ MALIPO_LATE_CHECK_AGES_MS: '86400000' });
    await eventually('the rechecks', () => areAllDone(testEnv));
    const results = await eventually('the end of the run', async () => {
      const runs = await runsOf(rechecksOf(testEnv));
      return runs.every(({ status }) => status === 'COMPLETED') && Promise.all(runs.map(({ result }) => result()));
    });
    const counts = results.map((result) => (result as { rechecked: number }).rechecked);
    assert.ok(Math.max(...counts) > 100, counts.join(' '));
  });
});

// Rechecks of final payments: made by the queue of status queries, which records what is new, without Temporal.
import assert from 'node:assert/strict';
import { makeCollection, makeMerchant, tamper } from '../db/rows.ts';
import { temporalClient } from '../support/engines.ts';
import { pay, untilState } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, untilPayoutState, releasedPayout } from '../support/payouts.ts';
import { startScriptedOperator } from '../support/scripted-operator.ts';
import { eventually, LOST_CALLBACKS, type TestEnvironment } from '../support/test-environment.ts';
import { useFixture } from '../support/use-fixture.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';

/** How many workflows Temporal has, or had, for the payment. */
async function workflowsOf({ id }: { readonly id: string }): Promise<number> {
  return (await (await temporalClient()).workflow.count(`MalipoResourceId = '${id}'`)).count;
}

async function areAllDone({ db }: TestEnvironment): Promise<boolean> {
  const { rows } = await db.pool.query<{ due: number }>(
    `SELECT count(*)::int AS due FROM work
     WHERE task = 'status_query' AND (claimed_until IS NOT NULL OR due_at < now() + interval '1 hour')`,
  );
  return rows[0]?.due === 0;
}

describe('money that the operator returned without a callback that arrives', () => {
  const testEnv = useTestEnvironment({
    environment: {
      ...LOST_CALLBACKS,
      MALIPO_RETURN_CHECK_AGES_MS: '300,2500,5000,10000,20000,40000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '40000',
    },
  });

  it('is found by a late check of the collection, and taken from the balance', async () => {
    const merchant = await testEnv.addMerchant();
    const payment = await pay(testEnv, '015', { merchant });
    await untilState(testEnv, payment, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [0, 0]);
    assert.equal(transitionsOf(await untilAllReceived(testEnv, payment)).at(-1), 'succeeded > reversed');
    assert.equal(await workflowsOf(payment), 1);
  });

  it('is found by a late check of the payout, and given back to the merchant', async () => {
    const merchant = await testEnv.addMerchant();
    const payout = await releasedPayout(testEnv, '015', { merchant });
    await untilPayoutState(testEnv, payout, 'reversed');
    assert.deepEqual(await balanceOf(testEnv, merchant), [20_000, 0]);
    assert.equal(await workflowsOf(payout), 1);
  });
});

describe('the recheck of many final payments', () => {
  const operator = useFixture(startScriptedOperator, (stub) => stub.stop());
  const testEnv = useTestEnvironment(() => ({
    mtnMomoUrl: operator.url,
    environment: {
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
    tamper(testEnv.db, `UPDATE work SET due_at = now() WHERE kind = 'collection' AND task = 'status_query'`);

  it('queries each once, records what is news, and starts no workflow', async () => {
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
    operator.setStatus({ status: 'SUCCESSFUL' });
    await makeDue();
    for (const payment of payments) await untilState(testEnv, payment, 'succeeded');
    for (const payment of payments) assert.equal(await workflowsOf(payment), 1);
  });
});

describe('the recheck of more final payments than may be in flight at once', () => {
  const testEnv = useTestEnvironment({ startsServer: false });

  it('goes on until none is due', async () => {
    // The operator knows none of them: that is a status, and not news.
    const merchantId = await makeMerchant(testEnv.db);
    for (let i = 0; i < 230; i++) await makeCollection(testEnv.db, merchantId, 'expired');
    await tamper(testEnv.db, `UPDATE work SET due_at = now() WHERE kind = 'collection'`);
    await testEnv.startServer({ MALIPO_LATE_CHECK_AGES_MS: '86400000' });
    await eventually('the rechecks', () => areAllDone(testEnv));
  });
});

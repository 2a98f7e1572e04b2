// An operator that says that it does not know a payout: money that was sent is not freed by one such status.
import assert from 'node:assert/strict';
import { settleDiscrepancy } from '../../src/operations/payments/settle-discrepancy.ts';
import { findOpenDiscrepancies } from '../../src/db/payments/discrepancy.ts';
import { json } from '../operators/stub-operator.ts';
import { AMINA } from '../support/staff.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { balanceOf, releasedPayout, untilAccepted, untilPayoutState, type Payout } from '../support/payouts.ts';
import { CUT, type ScriptedOperator } from '../support/scripted-operator.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useConcurrentTests, withOwnOperator } from '../support/concurrent-tests.ts';

const PATIENT_MS = 3_600_000;
const NOT_FOUND = json(404, { code: 'RESOURCE_NOT_FOUND', message: 'Requested resource was not found.' });

describe('a payout whose send is in doubt and that the operator does not know', () => {
  // All at once, each with an operator of its own: they wait for the send deadline.
  const test = useConcurrentTests(5);

  type Check = (testEnv: TestEnvironment, operator: ScriptedOperator) => Promise<void>;

  /** The operator cuts every send, and knows none of them for as long as `check` has it say nothing else. */
  const testInDoubt = (title: string, spanMs: number, check: Check) => {
    test(title, () => {
      const settings = {
        MALIPO_POLL_SCHEDULE_MS: '100',
        MALIPO_RECONCILE_SCHEDULE_MS: '100',
        // Long enough for the first try to begin.
        MALIPO_PAYOUT_SEND_DEADLINE_MS: '10000',
        MALIPO_OPERATOR_TIMEOUT_MS: '300',
        MALIPO_NOT_FOUND_GRACE_MS: '400',
        MALIPO_NOT_FOUND_GAP_MS: '100',
        MALIPO_NOT_FOUND_SPAN_MS: String(spanMs),
        MALIPO_LATE_CHECK_AGES_MS: '1000,2000,4000,8000,16000,32000,64000,128000',
      };
      return withOwnOperator(settings, async (testEnv, operator) => {
        operator.answerPrompts(CUT);
        operator.answerStatusQueries(NOT_FOUND);
        await check(testEnv, operator);
      });
    });
  };

  async function settleAll({ db }: TestEnvironment, { id }: Payout): Promise<void> {
    for (const { id: of, subject } of await findOpenDiscrepancies(db, 100)) {
      assert.equal(subject, id);
      await settleDiscrepancy(db, { id: of, how: 'cleared with the operator', by: AMINA, at: new Date() });
    }
  }

  const countOf = async ({ db }: TestEnvironment, { id }: Payout) =>
    (await db.pool.query<{ count: number }>('SELECT not_found_count AS count FROM payments WHERE id = $1', [id]))
      .rows[0]?.count ?? 0;

  /** A released payout of which more than so many statuses were counted. */
  async function countedPayout(testEnv: TestEnvironment, count: number): Promise<Payout> {
    const payout = await releasedPayout(testEnv, '000');
    await eventually('the statuses that count', async () => (await countOf(testEnv, payout)) > count, 60_000);
    return payout;
  }

  testInDoubt(
    'stays reconciling with its money held, and succeeds when the operator turns out to have paid it',
    PATIENT_MS,
    async (testEnv, operator) => {
      const payout = await countedPayout(testEnv, 3);
      await untilPayoutState(testEnv, payout, 'reconciling');
      assert.deepEqual(await balanceOf(testEnv, payout.merchant), [20_000 - payout.amount, payout.amount]);
      operator.answerStatusQueries(null);
      operator.setStatus({ status: 'SUCCESSFUL' });
      await untilPayoutState(testEnv, payout, 'succeeded');
      assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)).slice(-2), [
        'released > reconciling',
        'reconciling > succeeded',
      ]);
    },
  );

  for (const [what, status] of [
    ['paid, with an amount that cannot be read', { status: 'SUCCESSFUL', amount: '1,000' }],
    ['in a state that nobody knows', { status: 'ON_HOLD' }],
  ] as const) {
    testInDoubt(
      `keeps its money held until an outcome when the operator once said that it is ${what}, and then not_found`,
      500,
      async (testEnv, operator) => {
        operator.answerStatusQueries(null);
        operator.setStatus(status);
        const payout = await releasedPayout(testEnv, '000');
        await untilAccepted(testEnv, payout);
        await untilPayoutState(testEnv, payout, 'reconciling');
        operator.answerStatusQueries(NOT_FOUND);
        const queries = operator.statusQueries(payout.operatorReference);
        await eventually('more queries', () => operator.statusQueries(payout.operatorReference) > queries + 10, 60_000);
        assert.equal(await countOf(testEnv, payout), 0);
        await untilPayoutState(testEnv, payout, 'reconciling');
        assert.deepEqual(await balanceOf(testEnv, payout.merchant), [20_000 - payout.amount, payout.amount]);
        operator.answerStatusQueries(null);
        operator.setStatus({ status: 'SUCCESSFUL' });
        await untilPayoutState(testEnv, payout, 'succeeded');
        await settleAll(testEnv, payout);
      },
    );
  }

  testInDoubt(
    'has the count begin again when the operator once gives no usable answer',
    PATIENT_MS,
    async (testEnv, operator) => {
      const payout = await countedPayout(testEnv, 0);
      operator.answerStatusQueries(json(503, { code: 'SERVICE_UNAVAILABLE' }));
      await eventually('the count to begin again', async () => (await countOf(testEnv, payout)) === 0);
    },
  );

  testInDoubt(
    'fails and frees its money when the operator says so often enough, and is a discrepancy once that was not true',
    500,
    async (testEnv, operator) => {
      const payout = await releasedPayout(testEnv, '000');
      const shown = await untilPayoutState(testEnv, payout, 'failed');
      assert.equal(shown.failure?.code, 'operator_unavailable');
      assert.deepEqual(await balanceOf(testEnv, payout.merchant), [20_000, 0]);
      assert.ok((await countOf(testEnv, payout)) >= 3);
      // It is still rechecked, and nobody calls back.
      operator.answerStatusQueries(null);
      operator.setStatus({ status: 'SUCCESSFUL' });
      const found = async () => (await findOpenDiscrepancies(testEnv.db, 1))[0];
      const { subject, kind } = await eventually('the discrepancy', found, 60_000);
      assert.deepEqual([subject, kind], [payout.id, 'paid_after_failed']);
      assert.deepEqual(await balanceOf(testEnv, payout.merchant), [20_000, 0]);
      await settleAll(testEnv, payout);
    },
  );
});

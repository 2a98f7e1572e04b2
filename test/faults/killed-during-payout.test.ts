// A server that is killed before or after any step of a payout: it is sent once, and gets the operator's final status.
import assert from 'node:assert/strict';
import type { PayoutState } from '../../src/domain/payments/payout.ts';
import type { CrashPoint } from '../support/crash-points.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { assertLedgerIsSound, expireLeases } from '../support/payments.ts';
import { transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { requestPayout, balanceOf, fund, release, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { sandboxTransactions, switchFaults } from '../support/sandbox-operator.ts';
import { startServerChild } from '../support/server-child.ts';
import { inOwnEnvironment, testConcurrently } from '../support/concurrent-tests.ts';

type Path = {
  readonly row: string;
  readonly state: PayoutState;
  readonly balance: readonly [number, number];
  /** The float is empty until the server was killed. */
  readonly isFloatLow?: true;
};

const PAID: Path = { row: '000', state: 'succeeded', balance: [15_000, 0] };
const PAID_LATER: Path = { ...PAID, isFloatLow: true };
const REFUSED: Path = { row: '001', state: 'failed', balance: [20_000, 0] };

// After its release.
const OUTCOME = { commitOf: 'payment_change_record', nth: 2 };
const STEPS: readonly (readonly [string, { activity: string } | { commitOf: string; nth: number }, Path])[] = [
  ['it is sent', { activity: 'sendWithOperator' }, PAID],
  ['the operator’s status is queried', { activity: 'queryStatusWithOperator' }, PAID],
  ['its payment is recorded', OUTCOME, PAID],
  ['its refusal is recorded', OUTCOME, REFUSED],
  ['it is recorded that it is sent again', { commitOf: 'payout_begin_generation', nth: 1 }, PAID_LATER],
  ['its second generation is sent', { commitOf: 'payment_mark_send_begun', nth: 2 }, PAID_LATER],
];
const CASES = (['before', 'after'] as const).flatMap((moment) =>
  STEPS.map(([what, step, path]) => ({
    title: `is sent once and becomes ${path.state} when its server is killed ${moment} ${what}`,
    crashPoint: { moment, ...step },
    path,
  })),
);

describe('a payout', () => {
  testConcurrently(CASES, 3, ({ crashPoint, path }) => {
    const environment = {
      // How long an activity of a dead server keeps the next one waiting.
      MALIPO_OPERATOR_TIMEOUT_MS: '3000',
      MALIPO_PAYOUT_SEND_DEADLINE_MS: '60000',
      // The callback comes first.
      MALIPO_POLL_SCHEDULE_MS: '8000',
    };
    return inOwnEnvironment({ environment }, (testEnv) => survive(testEnv, crashPoint, path));
  });
});

async function survive(testEnv: TestEnvironment, crashPoint: CrashPoint, path: Path): Promise<void> {
  const { merchant } = testEnv;
  const { row, state, balance } = path;
  if (path.isFloatLow) await switchFaults(testEnv, { floatLow: true });
  await fund(testEnv, merchant, 20_000);
  const doomed = await startServerChild(testEnv, { crashPoint });
  const payout = await requestPayout(testEnv, row);
  await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
  await doomed.dies();
  if (path.isFloatLow) await switchFaults(testEnv, {});
  await expireLeases(testEnv.db);
  await testEnv.startServer();
  await untilPayoutState(testEnv, payout, state, 40_000);
  assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)), [
    'nothing > queued',
    'queued > released',
    `released > ${state}`,
  ]);
  const sends = await sandboxTransactions(testEnv, payout.phone);
  assert.ok(sends.every(({ transfersTaken }) => transfersTaken === 1));
  // A payout that was refused for our float is sent once more, and each other payout is sent once.
  assert.equal(sends.filter((one) => one.state !== 'FAILED').length, state === 'succeeded' ? 1 : 0);
  if (!path.isFloatLow) assert.equal(sends.length, 1);
  assert.deepEqual(await balanceOf(testEnv, merchant), balance);
  await assertLedgerIsSound(testEnv.db);
}

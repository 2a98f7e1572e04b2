// Servers that die around the steps of a payout: it is sent once, and ends as the operator says.
import assert from 'node:assert/strict';
import type { PayoutState } from '../../src/domain/payments/payout.ts';
import type { CrashPoint } from '../support/crash-points.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { assertLedgerIsSound, expireLeases, transitionsOf, untilAllReceived } from '../support/payments.ts';
import { requestPayout, balanceOf, fund, release, transfersAccepted, untilPayoutState } from '../support/payouts.ts';
import { logInAs } from '../support/people.ts';
import { startServerChild } from '../support/server-child.ts';

type Path = { readonly row: string; readonly state: PayoutState; readonly balance: readonly [number, number] };

const PAID: Path = { row: '000', state: 'succeeded', balance: [15_000, 0] };
const REFUSED: Path = { row: '001', state: 'failed', balance: [20_000, 0] };

const record = (transition: string) => ({ activity: 'recordTransition', transition });
const POINTS: readonly (readonly [string, CrashPoint, Path])[] = (['before', 'after'] as const).flatMap((moment) => [
  [`${moment} it is sent`, { moment, activity: 'sendWithOperator' }, PAID] as const,
  [`${moment} the operator is asked`, { moment, activity: 'queryStatusWithOperator' }, PAID] as const,
  [`${moment} its payment is recorded`, { moment, ...record('paid') }, PAID] as const,
  [`${moment} its refusal is recorded`, { moment, ...record('declined') }, REFUSED] as const,
]);

describe('a server that is killed', () => {
  const outcomes = new Map<string, Promise<void>>();

  // A few at a time: most of their time is waiting for what the dead server had in hand.
  before(() => {
    const lanes = [0, 1, 2].map(() => Promise.resolve());
    for (const [index, [title, crashPoint, path]] of POINTS.entries()) {
      const lane = index % lanes.length;
      const outcome = lanes[lane]!.then(() => surviveInOwnEnvironment(crashPoint, path));
      outcomes.set(title, outcome);
      lanes[lane] = outcome.catch(() => undefined);
    }
  });

  for (const [title, , path] of POINTS) {
    it(`${title} leaves a payout that ends as ${path.state}, sent once`, async () => {
      await outcomes.get(title);
    });
  }
});

async function surviveInOwnEnvironment(crashPoint: CrashPoint, path: Path): Promise<void> {
  const testEnv = await startTestEnvironment({
    startsServer: false,
    // How long an activity of a dead server keeps the next one waiting.
    environment: { MALIPO_OPERATOR_TIMEOUT_MS: '500', MALIPO_PAYOUT_SEND_DEADLINE_MS: '60000' },
  });
  try {
    await survive(testEnv, crashPoint, path);
  } finally {
    await testEnv.stop();
  }
}

async function survive(testEnv: TestEnvironment, crashPoint: CrashPoint, { row, state, balance }: Path): Promise<void> {
  const { merchant } = testEnv;
  await fund(testEnv, merchant, 20_000);
  const doomed = await startServerChild(testEnv, { crashPoint });
  const payout = await requestPayout(testEnv, row);
  await release(await logInAs(testEnv, merchant.id, 'approver'), payout);
  await doomed.dies();
  await expireLeases(testEnv.db);
  await testEnv.startServer();
  await untilPayoutState(testEnv, payout, state, 40_000);
  assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payout)), [
    'nothing > queued',
    'queued > released',
    `released > ${state}`,
  ]);
  assert.equal(await transfersAccepted(testEnv, payout), 1);
  assert.deepEqual(await balanceOf(testEnv, merchant), balance);
  await assertLedgerIsSound(testEnv.db);
}

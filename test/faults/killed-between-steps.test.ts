// A server that is killed before or after any step of a payment: the next one goes on, and nothing happens twice.
import assert from 'node:assert/strict';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import { type CrashPoint } from '../support/crash-points.ts';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import {
  assertLedgerIsSound,
  availableBalance,
  expireLeases,
  pay,
  promptsRaised,
  storedEvents,
  transitionsOf,
  untilAllReceived,
  untilState,
} from '../support/payments.ts';
import { startServerChild } from '../support/server-child.ts';

type Path = {
  readonly row: string;
  readonly state: CollectionState;
  readonly story: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

const PAID: Path = { row: '000', state: 'succeeded', story: ['initiated > prompted', 'prompted > succeeded'] };
const DECLINED: Path = { row: '001', state: 'failed', story: ['initiated > prompted', 'prompted > failed'] };
const EXPIRED: Path = { row: '003', state: 'expired', story: ['initiated > prompted', 'prompted > expired'] };
const UNDECIDED: Path = {
  row: '009',
  state: 'succeeded',
  story: ['initiated > prompted', 'prompted > reconciling', 'reconciling > succeeded late'],
  environment: { MALIPO_PROMPT_WINDOW_MS: '500', MALIPO_RECONCILE_FOR_MS: '30000' },
};

type Step = { activity: string; transition?: string };

const record = (transition: string) => ({ activity: 'recordTransition', transition });
const STEPS: readonly (readonly [string, Step, Path])[] = [
  ['the prompt is raised', { activity: 'sendWithOperator' }, PAID],
  ['the operator is asked', { activity: 'queryStatusWithOperator' }, PAID],
  ['the prompt is recorded', record('prompt_accepted'), PAID],
  ['the payment is recorded', record('paid'), PAID],
  ['a refusal is recorded', record('declined'), DECLINED],
  ['an expiry is recorded', record('expired'), EXPIRED],
  ['an unknown outcome is recorded', record('outcome_unknown'), UNDECIDED],
];

/** Starts a server that dies at the point, then one that does not. The house is stopped by the caller. */
async function survive(testEnv: TestEnvironment, crashPoint: CrashPoint, path: Path): Promise<void> {
  const doomed = await startServerChild(testEnv, { crashPoint });
  const payment = await pay(testEnv, path.row);
  await doomed.dies();
  await expireLeases(testEnv.db);
  await testEnv.startServer();
  await untilState(testEnv, payment, path.state, 30_000);
  assert.deepEqual(transitionsOf(await untilAllReceived(testEnv, payment)), path.story);
  const events = await storedEvents(testEnv.db, payment.id);
  assert.equal(events.length, path.story.length);
  assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  assert.equal(await availableBalance(testEnv, payment.merchant), path.state === 'succeeded' ? payment.amount : 0);
  await assertLedgerIsSound(testEnv.db);
}

describe('a server that is killed', () => {
  const points = STEPS.flatMap(([title, step, path]) =>
    (['before', 'after'] as const).map((moment) => ({
      title: `${moment} ${title}`,
      crashPoint: { moment, ...step },
      path,
    })),
  );
  const outcomes = new Map<string, Promise<void>>();

  // A few at a time: most of their time is waiting for what the dead server had in hand.
  before(() => {
    const lanes = [0, 1, 2, 3].map(() => Promise.resolve());
    for (const [index, { title, crashPoint, path }] of points.entries()) {
      const lane = index % lanes.length;
      const outcome = lanes[lane]!.then(() => surviveInOwnEnvironment(crashPoint, path));
      outcomes.set(title, outcome);
      lanes[lane] = outcome.catch(() => undefined);
    }
  });

  for (const { title, path } of points) {
    it(`${title} leaves a payment that ends as ${path.state}, once`, async () => {
      await outcomes.get(title);
    });
  }
});

async function surviveInOwnEnvironment(crashPoint: CrashPoint, path: Path): Promise<void> {
  const testEnv = await startTestEnvironment({
    startsServer: false,
    environment: {
      MALIPO_PROMPT_DEADLINE_MS: '60000',
      MALIPO_PROMPT_WINDOW_MS: '30000',
      // How long an activity of a dead server keeps the next one waiting.
      MALIPO_OPERATOR_TIMEOUT_MS: '500',
      ...path.environment,
    },
  });
  try {
    await survive(testEnv, crashPoint, path);
  } finally {
    await testEnv.stop();
  }
}

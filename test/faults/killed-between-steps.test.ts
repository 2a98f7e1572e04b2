// A server that is killed before or after any step of a collection: the next one continues, and nothing happens twice.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { CollectionState } from '../../src/domain/payments/collection.ts';
import type { CrashPoint } from '../support/crash-points.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { openApiOf } from '../support/openapi-check.ts';
import { assertLedgerIsSound, availableBalance, expireLeases, pay, untilState } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { storedEvents, transitionsOf, untilAllReceived } from '../support/payment-events.ts';
import { startServerChild } from '../support/server-child.ts';
import { inOwnEnvironment, testConcurrently } from '../support/concurrent-tests.ts';

type Path = {
  readonly row: string;
  readonly state: CollectionState;
  readonly story: readonly string[];
  /** The same, when the next server comes only after the window is over, or after the operator has decided. */
  readonly lateStory?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

const PAID: Path = { row: '000', state: 'succeeded', story: ['initiated > prompted', 'prompted > succeeded'] };
const DECLINED: Path = { row: '001', state: 'failed', story: ['initiated > prompted', 'prompted > failed'] };
const EXPIRED: Path = {
  row: '003',
  state: 'expired',
  story: ['initiated > prompted', 'prompted > expired'],
  lateStory: ['initiated > prompted', 'prompted > reconciling', 'reconciling > expired'],
  // It expires at the operator first, and is recorded when our own window is over.
  environment: { MALIPO_PROMPT_WINDOW_MS: '3000' },
};
const UNDECIDED: Path = {
  row: '009',
  state: 'succeeded',
  story: ['initiated > prompted', 'prompted > reconciling', 'reconciling > succeeded late'],
  lateStory: ['initiated > prompted', 'prompted > succeeded late'],
  environment: { MALIPO_PROMPT_WINDOW_MS: '500', MALIPO_RECONCILE_FOR_MS: '30000' },
};

type Step = { activity: string } | { commitOf: string; nth: number };

// What follows from a call is recorded by the activity that makes the call: of the collection's changes, this is the nth.
const change = (nth: number) => ({ commitOf: 'payment_change_record', nth });
const STEPS: readonly (readonly [string, Step, Path])[] = [
  ['the prompt is raised', { activity: 'sendWithOperator' }, PAID],
  ['the operator’s status is queried', { activity: 'queryStatusWithOperator' }, PAID],
  ['the prompt is recorded', change(1), PAID],
  ['the payment is recorded', change(2), PAID],
  ['a refusal is recorded', change(2), DECLINED],
  ['an expiry is recorded', change(2), EXPIRED],
  ['an unknown outcome is recorded', change(2), UNDECIDED],
  ['a query by schedule that decided nothing ends', { commitOf: 'status_query_finish', nth: 1 }, UNDECIDED],
];

const CASES = STEPS.flatMap(([what, step, path]) =>
  (['before', 'after'] as const).map((moment) => ({
    title: `becomes ${path.state} exactly once when its server is killed ${moment} ${what}`,
    crashPoint: { moment, ...step },
    path,
  })),
);

describe('a collection', function () {
  // Nothing here is decided by a limit: they only end a test that would wait for ever.
  this.timeout(200_000);
  testConcurrently(CASES, 4, ({ crashPoint, path }) => {
    const environment = {
      MALIPO_PROMPT_DEADLINE_MS: '120000',
      MALIPO_PROMPT_WINDOW_MS: '120000',
      // How long an activity of a dead server keeps the next one waiting.
      MALIPO_OPERATOR_TIMEOUT_MS: '3000',
      // The callback comes first.
      MALIPO_POLL_SCHEDULE_MS: '8000',
      ...path.environment,
    };
    return inOwnEnvironment({ environment }, (testEnv) => survive(testEnv, crashPoint, path));
  });
});

/** Starts a server that dies at the crash point, then one that does not. */
async function survive(testEnv: TestEnvironment, crashPoint: CrashPoint, path: Path): Promise<void> {
  const doomed = await startServerChild(testEnv, { crashPoint });
  // The response to the request is checked against it, when the server may be gone.
  await openApiOf(testEnv.baseUrl);
  const payment = await pay(testEnv, path.row);
  await doomed.dies();
  await expireLeases(testEnv.db);
  await testEnv.startServer();
  await untilState(testEnv, payment, path.state, 90_000);
  const story = transitionsOf(await untilAllReceived(testEnv, payment));
  const isLate = isDeepStrictEqual(story, path.lateStory);
  assert.deepEqual(story, isLate ? path.lateStory : path.story);
  const events = await storedEvents(testEnv.db, payment.id);
  assert.equal(events.length, story.length);
  assert.equal(await promptsRaised(testEnv, payment.phone), 1);
  assert.equal(await availableBalance(testEnv, payment.merchant), path.state === 'succeeded' ? payment.amount : 0);
  await assertLedgerIsSound(testEnv.db);
}

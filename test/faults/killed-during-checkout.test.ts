// A server that is killed between a payer's press of the button and the request on their phone: pressed again, one request comes.
import assert from 'node:assert/strict';
import { checkoutMaker, openPayer } from '../api/pay/payer.ts';
import type { CrashPoint } from '../support/crash-points.ts';
import { expireLeases, phoneFor } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { startServerChild } from '../support/server-child.ts';
import type { TestEnvironment } from '../support/test-environment.ts';
import { valuesOf } from '../support/values-of.ts';
import { inOwnEnvironment, testConcurrently } from '../support/concurrent-tests.ts';

/** When the server dies, and how many attempts it has recorded by then. */
const CASES: readonly (readonly [title: string, crashPoint: CrashPoint, recorded: 0 | 1])[] = [
  [
    'takes the attempt when it is pressed again, where nothing was recorded',
    { moment: 'before', commitOf: 'checkout_attempt_insert' },
    0,
  ],
  [
    'goes on with the attempt that was recorded and whose response was lost',
    { moment: 'after', commitOf: 'checkout_attempt_insert' },
    1,
  ],
  ['goes on with the attempt for which no request was sent yet', { moment: 'before', activity: 'sendWithOperator' }, 1],
  [
    'goes on with the attempt whose request is on the phone, and not in the records',
    { moment: 'after', activity: 'sendWithOperator' },
    1,
  ],
];

describe('a checkout whose server is killed between the press and the request', function () {
  // Nothing here is decided by a limit: they only end a test that would wait for ever.
  this.timeout(200_000);
  const environment = {
    MALIPO_PROMPT_DEADLINE_MS: '120000',
    MALIPO_PROMPT_WINDOW_MS: '120000',
    // How long an activity of a dead server keeps the next one waiting.
    MALIPO_OPERATOR_TIMEOUT_MS: '3000',
  };
  const cases = CASES.map(([title, crashPoint, recorded]) => ({ title, crashPoint, recorded }));
  testConcurrently(cases, 2, ({ crashPoint, recorded }) =>
    inOwnEnvironment({ environment }, (testEnv) => pressAgain(testEnv, crashPoint, recorded)),
  );
});

async function pressAgain(testEnv: TestEnvironment, crashPoint: CrashPoint, recorded: 0 | 1): Promise<void> {
  const doomed = await startServerChild(testEnv, { crashPoint });
  const { maker, make } = await checkoutMaker(testEnv);
  const { id, path } = await make();
  const payer = openPayer(testEnv);
  const phone = phoneFor('000');
  const { fields } = await payer.open(path);
  const press = () => payer.post(path, { ...fields, phone });
  // It has no answer where the server dies before it gives one.
  await press().catch(() => null);
  await doomed.dies();
  assert.equal((await attemptsAt(testEnv, id)).length, recorded);

  await expireLeases(testEnv.db);
  await testEnv.startServer();
  const own = `${path}/${fields['attempt']}`;
  const pressed = await Promise.all([press(), press()]);
  for (const { status, location } of pressed) {
    assert.equal(status, 303);
    // Of two presses at once the one that comes second is sent to the checkout, which leads to the attempt.
    assert.ok(location === own || location === path, String(location));
  }
  assert.equal((await press()).location, own);
  await payer.until(own, 'Paid');
  assert.equal(await promptsRaised(testEnv, phone), 1);
  assert.deepEqual(await attemptsAt(testEnv, id), ['succeeded']);
  const { json } = await maker.call('GET', `/v1/console/checkouts/${id}`);
  assert.deepEqual([json['state'], json['paid_count']], ['completed', 1]);
}

/** The states of the collections that were made there. */
async function attemptsAt({ db }: TestEnvironment, checkoutId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ state: string }>(
    'SELECT state FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id WHERE checkout_id = $1',
    [checkoutId],
  );
  return valuesOf(rows, 'state');
}

// PostgreSQL terminates the server's connections by the hundred under load: the process goes on, and every payment ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, collectionFields } from '../support/api.ts';
import { eventually, type TestEnvironment } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { availableBalance, phoneFor } from '../support/payments.ts';
import { promptsRaised } from '../support/sandbox-operator.ts';
import { startServerChild, type ServerChild } from '../support/server-child.ts';

const TERMINATED = 400;
const PAYMENTS = 40;
const AMOUNT = 500;
const LIMIT_MS = 180_000;
// The server under test has it; the connections of the test itself have another, and stay.
const NAME = 'terminated';

/** Requests the collection again, with the same idempotency key, until it is accepted. */
async function payInSpiteOf(testEnv: TestEnvironment, phone: string): Promise<string> {
  const { baseUrl, merchant } = testEnv;
  const idempotencyKey = randomUUID();
  const json = collectionFields({ phone, amount: AMOUNT });
  return eventually(
    'the collection to be accepted',
    async () => {
      const request = { key: merchant.key, idempotencyKey, json };
      // Without a response the server has ended, which the test reports by itself.
      const response = await call(baseUrl, 'POST', '/v1/api/collections', request).catch(() => null);
      if (response === null) return null;
      // 409: the request before this one is not over yet.
      assert.ok([202, 409, 503].includes(response.status), `${response.status} ${response.text}`);
      return response.status === 202 && String(response.json['id']);
    },
    LIMIT_MS,
  );
}

describe('a server whose connections are terminated by the hundred', () => {
  const testEnv = useTestEnvironment({
    startsServer: false,
    environment: { MALIPO_PROMPT_DEADLINE_MS: '120000', MALIPO_PROMPT_WINDOW_MS: '120000' },
  });

  let server: ServerChild;
  afterEach(() => server.kill());

  it('goes on as the same process, ends every accepted payment once, and has the exact balance', async () => {
    const url = new URL(testEnv.environment['MALIPO_DATABASE_URL']!);
    url.searchParams.set('application_name', NAME);
    server = await startServerChild(testEnv, { overrides: { MALIPO_DATABASE_URL: url.href } });
    let terminated = 0;
    // Until there were enough, however fast the machine is: a slow one would get no request through between two of them.
    const terminating = (async () => {
      const endsAtMs = Date.now() + LIMIT_MS;
      while (terminated < TERMINATED && Date.now() < endsAtMs) {
        // One at a time in most rounds: some connections were opened a moment ago, some carry a transaction.
        const { rowCount } = await testEnv.db.pool.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 ORDER BY random() LIMIT $2',
          [NAME, terminated % 5 === 0 ? 100 : 1],
        );
        terminated += rowCount ?? 0;
        await sleep(5);
      }
    })();
    const phones = Array.from({ length: PAYMENTS }, () => phoneFor('000'));
    const died = server.exited.then((exit) => Promise.reject(new Error(`the server ended: ${JSON.stringify(exit)}`)));
    died.catch(() => undefined);
    const accepted = Promise.all(phones.map((phone) => payInSpiteOf(testEnv, phone)));
    await Promise.race([Promise.all([accepted, terminating]), died]);
    assert.ok(terminated >= TERMINATED, `only ${terminated} connections were terminated`);

    const ids = await accepted;
    assert.equal(new Set(ids).size, PAYMENTS);
    const finished = eventually(
      'every payment to succeed',
      // The first requests may still find a connection that was terminated: 503.
      async () => (await availableBalance(testEnv, testEnv.merchant).catch(() => null)) === PAYMENTS * AMOUNT,
      LIMIT_MS,
    );
    await Promise.race([finished, died]);
    const { rows } = await testEnv.db.pool.query<{ state: string; count: number }>(
      "SELECT state, count(*)::int AS count FROM payments WHERE kind = 'collection' GROUP BY state",
    );
    assert.deepEqual(rows, [{ state: 'succeeded', count: PAYMENTS }]);
    for (const phone of phones) assert.equal(await promptsRaised(testEnv, phone), 1);
    const { code, signal } = await server.stop(LIMIT_MS);
    assert.deepEqual([code, signal], [0, null]);
  }).timeout(3 * LIMIT_MS);
});

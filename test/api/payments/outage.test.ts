// What the API does while something it needs is away: it refuses what it cannot promise, and keeps every promise made.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { freePort } from '../../../src/dev/ports.ts';
import { call, collectionFields } from '../../support/api.ts';
import { eventually, startTestEnvironment, type TestEnvironment } from '../../support/test-environment.ts';
import { openTcpLine, type TcpLine } from '../../support/tcp-line.ts';
import { API_ONLY, assertError, startAnotherServer } from '../responses.ts';

const COLLECTIONS = '/v1/api/collections';

describe('with a part away', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
  });
  after(() => testEnv.stop());

  const create = (baseUrl: string, idempotencyKey = randomUUID(), fields: Record<string, unknown> = {}) =>
    call(baseUrl, 'POST', COLLECTIONS, { key: testEnv.merchant.key, idempotencyKey, json: collectionFields(fields) });
  const get = (baseUrl: string, path: string) => call(baseUrl, 'GET', path, { key: testEnv.merchant.key });

  describe('the database', () => {
    let line: TcpLine;
    let baseUrl: string;
    before(async () => {
      line = await openTcpLine(testEnv.environment['MALIPO_DATABASE_URL']!);
      const settings = { MALIPO_DATABASE_URL: line.url, MALIPO_DATABASE_TIMEOUT_MS: '1500' };
      ({ baseUrl } = await startAnotherServer(testEnv, settings));
      assert.equal((await get(baseUrl, '/readyz')).json['status'], 'ready');
    });
    after(async () => {
      await line.cut();
    });
    afterEach(() => line.mend());

    const assertEverythingWaits = async () => {
      assertError(await create(baseUrl), 'service_unavailable');
      assertError(await get(baseUrl, COLLECTIONS), 'service_unavailable');
      assertError(await get(baseUrl, '/v1/api/balance'), 'service_unavailable');
      const readiness = await get(baseUrl, '/readyz');
      assert.equal(readiness.status, 503);
      assert.equal(readiness.json['status'], 'down');
      assert.deepEqual((readiness.json['parts'] as { database: string }).database, 'down');
      assert.equal((await get(baseUrl, '/healthz')).status, 200);
    };

    it('gone, refuses payments and reads with 503, is down, and is still up', async () => {
      await line.cut();
      await assertEverythingWaits();
    });

    it('silent, does the same before long', async () => {
      line.silence();
      await assertEverythingWaits();
      await line.cut();
    });

    it('back, is ready at once, and takes the payment that was refused', async () => {
      const idempotencyKey = randomUUID();
      await line.cut();
      assertError(await create(baseUrl, idempotencyKey), 'service_unavailable');
      await line.mend();
      assert.equal((await get(baseUrl, '/readyz')).status, 200);
      const created = await create(baseUrl, idempotencyKey);
      assert.deepEqual([created.status, created.headers.get('idempotent-replayed')], [202, null]);
    });

    it('lost in the middle of many requests, takes no payment twice when they are sent again', async () => {
      const keys = Array.from({ length: 30 }, () => randomUUID());
      const sending = Promise.all(keys.map((key) => create(baseUrl, key)));
      await new Promise((resolve) => setTimeout(resolve, 15));
      await line.cut();
      for (const response of await sending) {
        if (response.status !== 202) assertError(response, 'service_unavailable');
      }
      await line.mend();
      await eventually('all to be taken', async () => {
        const responses = await Promise.all(keys.map((key) => create(baseUrl, key)));
        return responses.every(({ status }) => status === 202);
      });
      const { rows } = await testEnv.db.pool.query<{ rows: number; keys: number }>(
        `SELECT count(*)::int AS rows, count(DISTINCT idempotency_key)::int AS keys FROM collections
         WHERE idempotency_key = ANY($1)`,
        [keys],
      );
      assert.deepEqual(rows, [{ rows: keys.length, keys: keys.length }]);
    });
  });

  describe('Temporal', () => {
    let baseUrl: string;
    before(async () => {
      const address = `127.0.0.1:${await freePort()}`;
      ({ baseUrl } = await startAnotherServer(testEnv, { MALIPO_TEMPORAL_ADDRESS: address }));
    });

    it('takes payments all the same, and is degraded rather than down', async () => {
      assert.equal((await create(baseUrl)).status, 202);
      const { status, json } = await get(baseUrl, '/readyz');
      assert.equal(status, 200);
      const parts = { database: 'up', temporal: 'away', backlog: 'within_bounds' };
      assert.deepEqual(json, { status: 'degraded', parts });
    });

    it('hears callbacks all the same', async () => {
      const { json } = await create(baseUrl);
      const callback = { externalId: json['operator_reference'], status: 'SUCCESSFUL' };
      const response = await call(baseUrl, 'POST', '/operators/mtn-momo/callbacks', {
        idempotencyKey: null,
        json: callback,
      });
      assert.equal(response.status, 200);
    });
  });

  describe('whoever starts recorded work', () => {
    const backlogIsFull = (baseUrl: string) =>
      eventually('the bound to be reached', async () => {
        const { json } = await get(baseUrl, '/readyz');
        return (json['parts'] as { backlog: string }).backlog === 'full' && json;
      });

    it('refuses new payments once too many wait, and answers everything else', async () => {
      const [kept, other] = [randomUUID(), randomUUID()];
      const first = await create(testEnv.baseUrl, kept);
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_COUNT: '1' });
      assert.equal((await backlogIsFull(baseUrl))['status'], 'degraded');
      const refused = await create(baseUrl, other);
      assertError(refused, 'service_unavailable');
      assert.equal(refused.headers.get('retry-after'), '5');
      const replayed = await create(baseUrl, kept);
      assert.deepEqual([replayed.text, replayed.headers.get('idempotent-replayed')], [first.text, 'true']);
      assertError(await create(baseUrl, kept, { amount: 7000 }), 'idempotency_key_reused');
      assert.equal((await get(baseUrl, `${COLLECTIONS}/${String(first.json['id'])}`)).status, 200);
      assert.equal((await get(baseUrl, COLLECTIONS)).status, 200);
      // Nothing was kept of what was refused: where there is room, the same key makes the payment.
      assert.equal((await create(testEnv.baseUrl, other)).headers.get('idempotent-replayed'), null);
    });

    it('refuses new payments once the oldest has waited too long, and takes them again when it is started', async () => {
      await create(testEnv.baseUrl);
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_AGE_MS: '1' });
      await backlogIsFull(baseUrl);
      assertError(await create(baseUrl), 'service_unavailable');
      await testEnv.db.pool.query('UPDATE collections SET workflow_started_at = now()');
      const taken = await eventually('room for new work', async () => {
        const response = await create(baseUrl);
        return response.status === 202 && response;
      });
      assert.equal(taken.status, 202);
    });
  });
});

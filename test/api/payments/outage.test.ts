// The API while a part of the service is unavailable: it refuses what it cannot guarantee, and loses nothing it accepted.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { freePort } from '../../../src/engines/process/ports.ts';
import { record } from '../../db/rows.ts';
import { call, collectionFields } from '../../support/api.ts';
import { eventually } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { openTcpLine, type TcpLine } from '../../support/tcp-line.ts';
import { API_ONLY, assertError, startAnotherServer } from '../responses.ts';
import { setWork } from '../../db/work-rows.ts';

const COLLECTIONS = '/v1/api/collections';

describe('the API during an outage', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const create = (baseUrl: string, idempotencyKey = randomUUID(), fields: Record<string, unknown> = {}) =>
    call(baseUrl, 'POST', COLLECTIONS, { key: testEnv.merchant.key, idempotencyKey, json: collectionFields(fields) });
  const get = (baseUrl: string, path: string) => call(baseUrl, 'GET', path, { key: testEnv.merchant.key });

  describe('of the database', () => {
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

    const assertUnavailable = async () => {
      assertError(await create(baseUrl), 'service_unavailable');
      assertError(await get(baseUrl, COLLECTIONS), 'service_unavailable');
      assertError(await get(baseUrl, '/v1/api/balance'), 'service_unavailable');
      const readiness = await get(baseUrl, '/readyz');
      assert.equal(readiness.status, 503);
      assert.equal(readiness.json['status'], 'down');
      assert.deepEqual((readiness.json['parts'] as { database: string }).database, 'down');
      assert.equal((await get(baseUrl, '/healthz')).status, 200);
    };

    it('refuses payments and reads with 503 while connections fail, and is not ready but still up', async () => {
      await line.cut();
      await assertUnavailable();
    });

    it('refuses them in the same way, and before long, while connections are silent', async () => {
      line.silence();
      await assertUnavailable();
      await line.cut();
    });

    it('is ready as soon as the database is back, and accepts the payment that it refused', async () => {
      const idempotencyKey = randomUUID();
      await line.cut();
      assertError(await create(baseUrl, idempotencyKey), 'service_unavailable');
      await line.mend();
      assert.equal((await get(baseUrl, '/readyz')).status, 200);
      const created = await create(baseUrl, idempotencyKey);
      assert.deepEqual([created.status, created.headers.get('idempotent-replayed')], [202, null]);
    });

    it('creates no payment twice when many requests are interrupted and sent again', async () => {
      const keys = Array.from({ length: 30 }, () => randomUUID());
      const sending = Promise.all(keys.map((key) => create(baseUrl, key)));
      await new Promise((resolve) => setTimeout(resolve, 15));
      await line.cut();
      for (const response of await sending) {
        if (response.status !== 202) assertError(response, 'service_unavailable');
      }
      await line.mend();
      await eventually('all to be accepted', async () => {
        const responses = await Promise.all(keys.map((key) => create(baseUrl, key)));
        return responses.every(({ status }) => status === 202);
      });
      const { rows } = await testEnv.db.pool.query<{ rows: number; keys: number }>(
        `SELECT count(*)::int AS rows, count(DISTINCT idempotency_key)::int AS keys FROM payments
         WHERE idempotency_key = ANY($1)`,
        [keys],
      );
      assert.deepEqual(rows, [{ rows: keys.length, keys: keys.length }]);
    });
  });

  describe('of Temporal', () => {
    let baseUrl: string;
    before(async () => {
      const address = `127.0.0.1:${await freePort()}`;
      ({ baseUrl } = await startAnotherServer(testEnv, { MALIPO_TEMPORAL_ADDRESS: address }));
    });

    it('still accepts payments, and is degraded rather than down', async () => {
      assert.equal((await create(baseUrl)).status, 202);
      const { status, json } = await get(baseUrl, '/readyz');
      assert.equal(status, 200);
      const parts = { database: 'up', temporal: 'away', backlog: 'within_bounds' };
      assert.deepEqual(json, { status: 'degraded', parts });
    });

    it('still accepts callbacks', async () => {
      const { json } = await create(baseUrl);
      const callback = { externalId: json['operator_reference'], status: 'SUCCESSFUL' };
      const response = await call(baseUrl, 'POST', '/operators/mtn-momo/callbacks', {
        idempotencyKey: null,
        json: callback,
      });
      assert.equal(response.status, 200);
    });
  });

  describe('of the dispatcher', () => {
    const backlogIsFull = (baseUrl: string) =>
      eventually('the backlog to be full', async () => {
        const { json } = await get(baseUrl, '/readyz');
        return (json['parts'] as { backlog: string }).backlog === 'full' && json;
      });

    it('refuses new payments once too many wait, and serves everything else', async () => {
      const [stored, other] = [randomUUID(), randomUUID()];
      const first = await create(testEnv.baseUrl, stored);
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_COUNT: '1' });
      assert.equal((await backlogIsFull(baseUrl))['status'], 'degraded');
      const refused = await create(baseUrl, other);
      assertError(refused, 'service_unavailable');
      assert.equal(refused.headers.get('retry-after'), '5');
      const replayed = await create(baseUrl, stored);
      assert.deepEqual([replayed.text, replayed.headers.get('idempotent-replayed')], [first.text, 'true']);
      assertError(await create(baseUrl, stored, { amount: 7000 }), 'idempotency_key_reused');
      assert.equal((await get(baseUrl, `${COLLECTIONS}/${String(first.json['id'])}`)).status, 200);
      assert.equal((await get(baseUrl, COLLECTIONS)).status, 200);
      // Nothing was stored of the refused request: where there is capacity, the same key creates the payment.
      assert.equal((await create(testEnv.baseUrl, other)).headers.get('idempotent-replayed'), null);
    });

    it('refuses new payments of a merchant with too many that wait, and accepts those of others', async () => {
      const busy = await testEnv.addMerchant();
      const createFor = (baseUrl: string, { key }: { key: string }) =>
        call(baseUrl, 'POST', COLLECTIONS, { key, idempotencyKey: randomUUID(), json: collectionFields() });
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_PER_MERCHANT: '2' });
      for (let i = 0; i < 2; i++) assert.equal((await createFor(testEnv.baseUrl, busy)).status, 202);
      const refused = await eventually('the merchant to be refused', async () => {
        const response = await createFor(baseUrl, busy);
        return response.status === 503 && response;
      });
      assertError(refused, 'service_unavailable');
      assert.equal(refused.headers.get('retry-after'), '5');
      assert.equal((await createFor(baseUrl, await testEnv.addMerchant())).status, 202);
      const parts = (await get(baseUrl, '/readyz')).json['parts'] as { backlog: string };
      assert.equal(parts.backlog, 'within_bounds');
    });

    it('refuses new payments once many have waited too long, and accepts them again when they are carried out', async () => {
      for (let i = 0; i < 10; i++) await create(testEnv.baseUrl);
      // What its workflow has done nothing for counts, whether the workflow was started or not.
      await setWork(testEnv.db, 'is_started = true', "kind = 'collection'");
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_AGE_MS: '1' });
      await backlogIsFull(baseUrl);
      assertError(await create(baseUrl), 'service_unavailable');
      const { rows } = await testEnv.db.pool.query<Pick<Collection, 'id' | 'merchantId'>>(
        `SELECT id, merchant_id AS "merchantId" FROM payments WHERE kind = 'collection' AND state = 'initiated'`,
      );
      for (const row of rows) await record(testEnv.db, row, { kind: 'prompt_accepted' });
      const accepted = await eventually('capacity for new work', async () => {
        const response = await create(baseUrl);
        return response.status === 202 && response;
      });
      assert.equal(accepted.status, 202);
    });
  });
});

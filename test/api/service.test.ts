// Everything but payments: health, readiness, the balance, unknown routes, headers and rate limits.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { record, paid } from '../db/rows.ts';
import { call, collectionFields } from '../support/api.ts';
import { API_ONLY, assertError, assertHeaders, startAnotherServer } from './responses.ts';

describe('the service', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const get = (path: string, key: string | null = null) => call(testEnv.baseUrl, 'GET', path, { key });

  describe('health and readiness', () => {
    it('returns 200 from /healthz while it is up', async () => {
      const response = await get('/healthz');
      assert.deepEqual([response.status, response.json], [200, { status: 'up' }]);
      assertHeaders(response);
    });

    it('returns 200 with the state of each part from /readyz when it is ready', async () => {
      const response = await get('/readyz');
      const parts = { database: 'up', temporal: 'up', backlog: 'within_bounds' };
      assert.deepEqual([response.status, response.json], [200, { status: 'ready', parts }]);
      assertHeaders(response);
    });
  });

  describe('the balance', () => {
    it('has both amounts and the currency, and nothing else', async () => {
      const stranger = await testEnv.addMerchant('KES');
      const response = await get('/v1/api/balance', stranger.key);
      assert.deepEqual([response.status, response.json], [200, { available: 0, held: 0, currency: 'KES' }]);
      assertHeaders(response);
    });

    it('shows the payments of the merchant, and none of another merchant', async () => {
      const { key, id: merchantId } = await testEnv.addMerchant();
      const created = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
      const collection = { id: created.json['id'] as never, merchantId };
      await record(testEnv.db, collection, { kind: 'prompt_accepted' });
      assert.equal((await get('/v1/api/balance', key)).json['available'], 0);
      await record(testEnv.db, collection, paid());
      assert.equal((await get('/v1/api/balance', key)).json['available'], 5000);
      assert.equal((await get('/v1/api/balance', testEnv.merchant.key)).json['available'], 0);
    });

    it('refuses an unknown query parameter', async () => {
      const error = assertError(await get('/v1/api/balance?currency=KES', testEnv.merchant.key), 'parameter_unknown');
      assert.equal(error.param, 'currency');
    });
  });

  describe('an unknown route', () => {
    const paths = [
      '/',
      '/v1',
      '/v1/api',
      '/v1/api/refunds',
      '/v2/api/balance',
      '/docs/assets/../../package.json',
      '/.env',
    ];
    for (const path of paths) {
      it(`returns route_not_found for ${path}`, async () => {
        assertError(await get(path, testEnv.merchant.key), 'route_not_found');
      });
    }

    it('returns a complete 404 for a path that cannot be decoded', async () => {
      for (const path of ['//', '/%', '/%ff', '/v1/api/%00', 'http://xn--a/balance', '*', '/x?%ff=%']) {
        const { status, headers, error } = await getRaw(testEnv.baseUrl, path);
        assert.deepEqual([status, error?.code], [404, 'route_not_found'], path);
        assert.equal(headers['malipo-request-id'], error?.request_id);
        assert.equal(headers['x-content-type-options'], 'nosniff');
      }
    });

    it('returns collection_not_found for an id that cannot be decoded', async () => {
      for (const id of ['%ff', '%00', '%2e%2e', 'col_%ff', 'x'.repeat(5000)]) {
        const { status, error } = await getRaw(testEnv.baseUrl, `/v1/api/collections/${id}`, testEnv.merchant.key);
        assert.deepEqual([status, error?.code], [404, 'collection_not_found'], id);
      }
    });
  });

  it('refuses an unknown query parameter on the fetch route of a collection', async () => {
    const { key } = testEnv.merchant;
    const { json } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
    const error = assertError(
      await get(`/v1/api/collections/${String(json['id'])}?expand=payer`, key),
      'parameter_unknown',
    );
    assert.equal(error.param, 'expand');
  });

  it('returns 405 with the allowed methods when only the method is wrong', async () => {
    const methods: readonly (readonly [string, string, string])[] = [
      ['DELETE', '/v1/api/collections', 'POST, GET, HEAD'],
      ['PATCH', '/v1/api/collections/col_1', 'GET, HEAD'],
      ['POST', '/v1/api/balance', 'GET, HEAD'],
      ['GET', '/operators/mtn-momo/callbacks', 'POST, PUT'],
      ['OPTIONS', '/v1/api/collections', 'POST, GET, HEAD'],
    ];
    for (const [method, path, allow] of methods) {
      const response = await call(testEnv.baseUrl, method, path, { key: testEnv.merchant.key });
      assertError(response, 'method_not_allowed');
      assert.equal(response.headers.get('allow'), allow);
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const headers = { authorization: `Bearer ${testEnv.merchant.key}` };
    const response = await fetch(new URL('/v1/api/balance', testEnv.baseUrl), { method: 'HEAD', headers });
    assert.equal(response.status, 200);
    assertHeaders(response);
    assert.equal(await response.text(), '');
    assert.ok(Number(response.headers.get('content-length')) > 10);
  });

  it('gives every response a unique request id, in rising order', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++)
      ids.push((await get(i % 2 === 0 ? '/healthz' : '/nothing')).headers.get('malipo-request-id'));
    assert.equal(new Set(ids).size, 5);
    assert.deepEqual([...ids].sort(), ids);
  });

  it('reveals nothing about its software in the headers', async () => {
    const { headers } = await get('/healthz');
    assert.equal(headers.get('x-powered-by'), null);
    assert.equal(headers.get('server'), null);
  });

  it('reveals nothing about an unexpected error', async () => {
    await testEnv.db.pool.query('ALTER TABLE payments RENAME COLUMN reference TO mislaid');
    const response = await get('/v1/api/collections', testEnv.merchant.key);
    await testEnv.db.pool.query('ALTER TABLE payments RENAME COLUMN mislaid TO reference');
    assertError(response, 'internal_error');
    assert.doesNotMatch(response.text, /column|relation|reference|select|sql|node_modules|\.ts/i);
  });

  it('keeps running when a caller disconnects in the middle of a request', async () => {
    const { port } = new URL(testEnv.baseUrl);
    const socket = createConnection(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/api/collections HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testEnv.merchant.key}\r\nIdempotency-Key: k\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"phone":',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    assert.equal((await get('/healthz')).status, 200);
  });

  describe('with a rate limit of five requests per second', () => {
    it('refuses the sixth request of an address with Retry-After, and accepts it after that time', async () => {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '5' });
      const get = () => getRaw(baseUrl, '/v1/api/balance', testEnv.merchant.key);
      const responses = await Promise.all(Array.from({ length: 12 }, get));
      assert.equal(responses.filter(({ status }) => status === 200).length, 5);
      const refused = responses.filter(({ status }) => status === 429);
      assert.equal(refused.length, 7);
      for (const { headers, error } of refused) {
        assert.deepEqual([error?.type, error?.code, headers['retry-after']], ['rate_limit_error', 'rate_limited', '1']);
      }
      await new Promise((resolve) => setTimeout(resolve, 1050));
      assert.equal((await get()).status, 200);
    });

    it('counts each address behind a trusted proxy separately, and trusts no other header', async () => {
      const trusting = await startAnotherServer(testEnv, {
        MALIPO_RATE_LIMIT_PER_SECOND: '5',
        MALIPO_TRUSTED_PROXIES: '1',
      });
      const from = (address: string, baseUrl = trusting.baseUrl) =>
        fetch(new URL('/readyz', baseUrl), { headers: { 'x-forwarded-for': `198.51.100.1, ${address}` } });
      const many = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`203.0.113.${n}`)));
      assert.ok(many.every(({ status }) => status === 200));
      const one = await Promise.all(Array.from({ length: 12 }, () => from('203.0.113.99')));
      assert.equal(one.filter(({ status }) => status === 200).length, 5);
      const direct = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '5' });
      const spoofed = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`203.0.113.${n}`, direct.baseUrl)));
      assert.equal(spoofed.filter(({ status }) => status === 200).length, 5);
    });

    it('counts all addresses of one IPv6 network as one caller', async () => {
      const settings = { MALIPO_RATE_LIMIT_PER_SECOND: '5', MALIPO_TRUSTED_PROXIES: '1' };
      const { baseUrl } = await startAnotherServer(testEnv, settings);
      const from = (address: string) => fetch(new URL('/readyz', baseUrl), { headers: { 'x-forwarded-for': address } });
      const one = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`2001:db8:1:2::${n}`)));
      assert.equal(one.filter(({ status }) => status === 200).length, 5);
      const many = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`2001:db8:1:${n + 3}::1`)));
      assert.ok(many.every(({ status }) => status === 200));
    });

    it('answers health checks under any load', async () => {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '1' });
      const flood = await Promise.all(Array.from({ length: 12 }, () => fetch(new URL('/readyz', baseUrl))));
      assert.ok(flood.some(({ status }) => status === 429));
      const health = await Promise.all(Array.from({ length: 12 }, () => fetch(new URL('/healthz', baseUrl))));
      assert.ok(health.every(({ status }) => status === 200));
    });

    it('counts the calls of operators against a separate limit', async () => {
      const settings = { MALIPO_RATE_LIMIT_PER_SECOND: '5', MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND: '15' };
      const { baseUrl } = await startAnotherServer(testEnv, settings);
      const body = JSON.stringify({ externalId: randomUUID() });
      const headers = { 'content-type': 'application/json' };
      const url = new URL('/operators/mtn-momo/callbacks', baseUrl);
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => fetch(url, { method: 'POST', headers, body })),
      );
      assert.equal(responses.filter(({ status }) => status === 200).length, 15);
      assert.equal(responses.filter(({ status }) => status === 429).length, 5);
      assert.equal((await fetch(new URL('/healthz', baseUrl))).status, 200);
    });
  });
});

type RawResponse = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly error?: { readonly code: string; readonly type: string; readonly request_id: string };
};

/** A request whose target is sent exactly as given, valid or not. */
async function getRaw(baseUrl: string, path: string, key = ''): Promise<RawResponse> {
  const { hostname, port } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${key}` };
  const sent = request({ host: hostname, port, path, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Pick<RawResponse, 'error'>;
  return { status: response.statusCode ?? 0, headers: response.headers, ...body };
}

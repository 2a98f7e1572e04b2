// What is not about payments: health, readiness, the reference page, unknown routes, and headers on everything.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { startTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';
import { record } from '../db/rows.ts';
import { call, collectionFields } from '../support/api.ts';
import { API_ONLY, assertError, assertHeaders, startAnotherServer } from './responses.ts';

describe('the service', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
  });
  after(() => testEnv.stop());

  const get = (path: string, key: string | null = null) => call(testEnv.baseUrl, 'GET', path, { key });

  describe('says of itself', () => {
    it('that it is up', async () => {
      const response = await get('/healthz');
      assert.deepEqual([response.status, response.json], [200, { status: 'up' }]);
      assertHeaders(response);
    });

    it('that it is ready, with each of its parts', async () => {
      const response = await get('/readyz');
      const parts = { database: 'up', temporal: 'up', backlog: 'within_bounds' };
      assert.deepEqual([response.status, response.json], [200, { status: 'ready', parts }]);
      assertHeaders(response);
    });
  });

  describe('answers balance', () => {
    it('with both amounts and the currency, and nothing else', async () => {
      const stranger = await testEnv.addMerchant('KES');
      const response = await get('/v1/api/balance', stranger.key);
      assert.deepEqual([response.status, response.json], [200, { available: 0, held: 0, currency: 'KES' }]);
      assertHeaders(response);
    });

    it('with what was paid, the merchant’s own only', async () => {
      const { key, id: merchantId } = await testEnv.addMerchant();
      const created = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
      const collection = { id: created.json['id'] as never, merchantId };
      await record(testEnv.db, collection, { kind: 'prompt_accepted' });
      assert.equal((await get('/v1/api/balance', key)).json['available'], 0);
      await record(testEnv.db, collection, { kind: 'paid', operatorReceipt: '42' });
      assert.equal((await get('/v1/api/balance', key)).json['available'], 5000);
      assert.equal((await get('/v1/api/balance', testEnv.merchant.key)).json['available'], 0);
    });

    it('to no question but that', async () => {
      const error = assertError(await get('/v1/api/balance?currency=KES', testEnv.merchant.key), 'parameter_unknown');
      assert.equal(error.param, 'currency');
    });
  });

  describe('shows the reference', () => {
    const load = async (path: string) => {
      const response = await fetch(new URL(path, testEnv.baseUrl));
      return { status: response.status, headers: response.headers, text: await response.text() };
    };

    it('as a page that loads from us and from nobody else', async () => {
      const page = await load('/docs');
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
      const links = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link!);
      assert.ok(links.length >= 3);
      for (const link of links) assert.match(link, /^\/docs\/assets\/[\w.-]+$/);
      assert.doesNotMatch(page.text, /https?:|\/\//);
    });

    it('under a policy that forbids everybody else', async () => {
      for (const path of ['/docs', '/docs/assets/start.js']) {
        const policy = (await load(path)).headers.get('content-security-policy') ?? '';
        const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]));
        assert.deepEqual(rules.get('default-src'), ["'none'"]);
        assert.deepEqual(rules.get('script-src'), ["'self'"]);
        assert.deepEqual(rules.get('connect-src'), ["'self'"]);
        assert.deepEqual(rules.get('frame-ancestors'), ["'none'"]);
        assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
      }
    });

    const assets: readonly (readonly [string, RegExp])[] = [
      ['/docs/assets/swagger-ui.css', /^text\/css/],
      ['/docs/assets/swagger-ui-bundle.js', /^text\/javascript/],
      ['/docs/assets/start.js', /^text\/javascript/],
    ];
    for (const [path, type] of assets) {
      it(`with ${path}`, async () => {
        const asset = await load(path);
        assert.equal(asset.status, 200);
        assert.match(asset.headers.get('content-type') ?? '', type);
        assert.equal(asset.headers.get('x-content-type-options'), 'nosniff');
        assert.match(asset.headers.get('malipo-request-id') ?? '', /^req_/);
        assert.ok(asset.text.length > 50);
      });
    }

    it('with a style that fetches nothing', async () => {
      const { text } = await load('/docs/assets/swagger-ui.css');
      assert.doesNotMatch(text, /@import|url\((?!["']?data:)/);
    });

    it('of the document it serves, and asks nobody to check it', async () => {
      const { text } = await load('/docs/assets/start.js');
      assert.match(text, /url: '\/v1\/openapi\.json'/);
      assert.match(text, /validatorUrl: null/);
    });
  });

  describe('knows no route', () => {
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
      it(path, async () => {
        assertError(await get(path, testEnv.merchant.key), 'route_not_found');
      });
    }

    it('that cannot even be read, and still answers whole', async () => {
      for (const path of ['//', '/%', '/%ff', '/v1/api/%00', 'http://xn--a/balance', '*', '/x?%ff=%']) {
        const { status, headers, error } = await getRaw(testEnv.baseUrl, path);
        assert.deepEqual([status, error?.code], [404, 'route_not_found'], path);
        assert.equal(headers['malipo-request-id'], error?.request_id);
        assert.equal(headers['x-content-type-options'], 'nosniff');
      }
    });

    it('with an id that cannot be read as anything but no collection', async () => {
      for (const id of ['%ff', '%00', '%2e%2e', 'col_%ff', 'x'.repeat(5000)]) {
        const { status, error } = await getRaw(testEnv.baseUrl, `/v1/api/collections/${id}`, testEnv.merchant.key);
        assert.deepEqual([status, error?.code], [404, 'collection_not_found'], id);
      }
    });
  });

  it('shows a collection to no question but for it', async () => {
    const { key } = testEnv.merchant;
    const { json } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json: collectionFields() });
    const error = assertError(
      await get(`/v1/api/collections/${String(json['id'])}?expand=payer`, key),
      'parameter_unknown',
    );
    assert.equal(error.param, 'expand');
  });

  it('tells a wrong method from a wrong path, with the right methods', async () => {
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

  it('answers HEAD as GET, without the body', async () => {
    const headers = { authorization: `Bearer ${testEnv.merchant.key}` };
    const response = await fetch(new URL('/v1/api/balance', testEnv.baseUrl), { method: 'HEAD', headers });
    assert.equal(response.status, 200);
    assertHeaders(response);
    assert.equal(await response.text(), '');
    assert.ok(Number(response.headers.get('content-length')) > 10);
  });

  it('gives every answer an id of its own, in rising order', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++)
      ids.push((await get(i % 2 === 0 ? '/healthz' : '/nothing')).headers.get('malipo-request-id'));
    assert.equal(new Set(ids).size, 5);
    assert.deepEqual([...ids].sort(), ids);
  });

  it('gives away nothing of what it is made of', async () => {
    const { headers } = await get('/healthz');
    assert.equal(headers.get('x-powered-by'), null);
    assert.equal(headers.get('server'), null);
  });

  it('leaks nothing of an error that nobody expected', async () => {
    await testEnv.db.pool.query('ALTER TABLE collections RENAME COLUMN reference TO mislaid');
    const response = await get('/v1/api/collections', testEnv.merchant.key);
    await testEnv.db.pool.query('ALTER TABLE collections RENAME COLUMN mislaid TO reference');
    assertError(response, 'internal_error');
    assert.doesNotMatch(response.text, /column|relation|reference|select|sql|node_modules|\.ts/i);
  });

  it('outlives a caller who goes away in the middle of a request', async () => {
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

  describe('with a limit of five requests in a second', () => {
    it('refuses the sixth of an address, says when to come back, and takes it then', async () => {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '5' });
      const ask = () => getRaw(baseUrl, '/v1/api/balance', testEnv.merchant.key);
      const answers = await Promise.all(Array.from({ length: 12 }, ask));
      assert.equal(answers.filter(({ status }) => status === 200).length, 5);
      const refused = answers.filter(({ status }) => status === 429);
      assert.equal(refused.length, 7);
      for (const { headers, error } of refused) {
        assert.deepEqual([error?.type, error?.code, headers['retry-after']], ['rate_limit_error', 'rate_limited', '1']);
      }
      await new Promise((resolve) => setTimeout(resolve, 1050));
      assert.equal((await ask()).status, 200);
    });

    it('counts each address behind a trusted proxy for itself, and believes nobody else', async () => {
      const trusting = await startAnotherServer(testEnv, {
        MALIPO_RATE_LIMIT_PER_SECOND: '5',
        MALIPO_TRUSTED_PROXIES: '1',
      });
      const from = (address: string, baseUrl = trusting.baseUrl) =>
        fetch(new URL('/healthz', baseUrl), { headers: { 'x-forwarded-for': `198.51.100.1, ${address}` } });
      const many = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`203.0.113.${n}`)));
      assert.ok(many.every(({ status }) => status === 200));
      const one = await Promise.all(Array.from({ length: 12 }, () => from('203.0.113.99')));
      assert.equal(one.filter(({ status }) => status === 200).length, 5);
      const doubting = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '5' });
      const liars = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`203.0.113.${n}`, doubting.baseUrl)));
      assert.equal(liars.filter(({ status }) => status === 200).length, 5);
    });

    it('counts the addresses of one IPv6 network, which one caller has all of, as one', async () => {
      const settings = { MALIPO_RATE_LIMIT_PER_SECOND: '5', MALIPO_TRUSTED_PROXIES: '1' };
      const { baseUrl } = await startAnotherServer(testEnv, settings);
      const from = (address: string) =>
        fetch(new URL('/healthz', baseUrl), { headers: { 'x-forwarded-for': address } });
      const one = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`2001:db8:1:2::${n}`)));
      assert.equal(one.filter(({ status }) => status === 200).length, 5);
      const many = await Promise.all(Array.from({ length: 12 }, (_, n) => from(`2001:db8:1:${n + 3}::1`)));
      assert.ok(many.every(({ status }) => status === 200));
    });

    it('counts what operators call with by a limit of their own', async () => {
      const settings = { MALIPO_RATE_LIMIT_PER_SECOND: '5', MALIPO_OPERATOR_RATE_LIMIT_PER_SECOND: '15' };
      const { baseUrl } = await startAnotherServer(testEnv, settings);
      const body = JSON.stringify({ externalId: randomUUID() });
      const headers = { 'content-type': 'application/json' };
      const url = new URL('/operators/mtn-momo/callbacks', baseUrl);
      const attested = await Promise.all(
        Array.from({ length: 20 }, () => fetch(url, { method: 'POST', headers, body })),
      );
      assert.equal(attested.filter(({ status }) => status === 200).length, 15);
      assert.equal(attested.filter(({ status }) => status === 429).length, 5);
      assert.equal((await fetch(new URL('/healthz', baseUrl))).status, 200);
    });
  });
});

type RawAnswer = {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly error?: { readonly code: string; readonly type: string; readonly request_id: string };
};

/** A request whose target goes out as it is written here, readable or not. */
async function getRaw(baseUrl: string, path: string, key = ''): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const headers = { authorization: `Bearer ${key}` };
  const asked = request({ host: hostname, port, path, headers, agent: false });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Pick<RawAnswer, 'error'>;
  return { status: answer.statusCode ?? 0, headers: answer.headers, ...body };
}

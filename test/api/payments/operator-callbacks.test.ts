// Callbacks over HTTP: kept as evidence, never believed, and no way to fill a disk.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { startTestEnvironment, type TestEnvironment } from '../../support/test-environment.ts';
import { API_ONLY, assertError, assertHeaders, startAnotherServer } from '../responses.ts';

const PATH = '/operators/mtn-momo/callbacks';
const JSON_TYPE = 'application/json';

type Kept = {
  readonly body: string;
  readonly content_type: string;
  readonly source_address: string;
  readonly operator: string;
};

describe('an operator’s callback', () => {
  let testEnv: TestEnvironment;
  before(async () => {
    testEnv = await startTestEnvironment(API_ONLY);
  });
  after(() => testEnv.stop());

  const callBack = (options: CallOptions, method = 'POST') =>
    call(testEnv.baseUrl, method, PATH, { idempotencyKey: null, ...options });
  async function newPayment(): Promise<{ id: string; reference: string }> {
    const { json } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      json: collectionFields(),
    });
    return { id: String(json['id']), reference: String(json['operator_reference']) };
  }
  const keptOf = async (id: string) =>
    (
      await testEnv.db.pool.query<Kept>(
        'SELECT body, content_type, source_address, operator FROM operator_callbacks WHERE collection_id = $1 ORDER BY id',
        [id],
      )
    ).rows;
  const countKept = async () =>
    (await testEnv.db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM operator_callbacks')).rows[0]?.n;

  function assertQueried(response: ApiResponse): void {
    assert.equal(response.status, 200, response.text);
    assert.equal(response.text, '{}');
    assertHeaders(response);
  }

  for (const method of ['POST', 'PUT']) {
    it(`by ${method} is heard and kept to the byte`, async () => {
      const { id, reference } = await newPayment();
      const body = `{ "externalId":"${reference}",\n "status":"SUCCESSFUL", "amount": 5000.00, "note":"é\\u0000" }`;
      assertQueried(await callBack({ raw: { type: `${JSON_TYPE}; charset=utf-8`, body } }, method));
      assert.deepEqual(await keptOf(id), [
        { body, content_type: `${JSON_TYPE}; charset=utf-8`, source_address: '127.0.0.1', operator: 'mtn-momo' },
      ]);
    });
  }

  it('moves no payment by itself, whatever it says', async () => {
    const { id, reference } = await newPayment();
    assertQueried(
      await callBack({ json: { externalId: reference, status: 'SUCCESSFUL', amount: '5000', currency: 'UGX' } }),
    );
    const { json } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${id}`, { key: testEnv.merchant.key });
    assert.equal(json['state'], 'initiated');
    const balance = await call(testEnv.baseUrl, 'GET', '/v1/api/balance', { key: testEnv.merchant.key });
    assert.equal(balance.json['available'], 0);
  });

  it('about a payment nobody knows is answered the same, and not kept', async () => {
    const before = await countKept();
    assertQueried(await callBack({ json: { externalId: randomUUID(), status: 'SUCCESSFUL' } }));
    assert.equal(await countKept(), before);
  });

  it('finds its payment in capital letters, and by the name that some markets use', async () => {
    const { id, reference } = await newPayment();
    assertQueried(await callBack({ json: { externalId: reference.toUpperCase() } }));
    assertQueried(await callBack({ json: { referenceId: reference } }));
    assert.equal((await keptOf(id)).length, 2);
  });

  it('asks for no key, and takes no notice of one', async () => {
    const { reference } = await newPayment();
    assertQueried(await callBack({ key: 'nonsense', json: { externalId: reference } }));
  });

  it('is kept twenty times for one payment and no more, and heard each time', async () => {
    const { id, reference } = await newPayment();
    for (let n = 0; n < 25; n++) assertQueried(await callBack({ json: { externalId: reference, n } }));
    const kept = await keptOf(id);
    assert.equal(kept.length, 20);
    assert.deepEqual(
      kept.map(({ body }) => (JSON.parse(body) as { n: number }).n),
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  it('in a flood is kept no more often than there are hands to write it down', async () => {
    const { id, reference } = await newPayment();
    const responses = await Promise.all(
      Array.from({ length: 150 }, (_, n) => callBack({ json: { externalId: reference, n } })),
    );
    responses.forEach(assertQueried);
    const most = 20 + testEnv.config.settings.MALIPO_DATABASE_POOL_SIZE;
    assert.ok((await keptOf(id)).length <= most);
  });

  const malformed: readonly (readonly [string, string])[] = [
    ['without a reference', '{"status":"SUCCESSFUL"}'],
    ['with a reference of another form', '{"externalId":"INV-1"}'],
    ['with a reference that is no text', '{"externalId":{"a":1}}'],
    ['that is empty', ''],
    ['that is a list', '[]'],
    ['that is null', 'null'],
    ['that is text', '"paid"'],
    ['that is cut', '{"externalId":"'],
    ['that would change all objects', `{"__proto__":{"externalId":"${randomUUID()}"}}`],
  ];
  for (const [what, body] of malformed) {
    it(`${what} is malformed`, async () => {
      const before = await countKept();
      for (const method of ['POST', 'PUT']) {
        assertError(await callBack({ raw: { type: JSON_TYPE, body } }, method), 'body_malformed');
      }
      assert.equal(await countKept(), before);
    });
  }

  it('that comes through a proxy is kept with the address that the proxy names, if it names one', async () => {
    const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_TRUSTED_PROXIES: '1' });
    const { id, reference } = await newPayment();
    const named = [
      '203.0.113.7',
      '2001:db8::1',
      '::ffff:203.0.113.7',
      'fe80::1%eth0',
      '203.0.113.7:4711',
      'unknown',
      '',
    ];
    for (const name of named) {
      const headers = { 'x-forwarded-for': name };
      assertQueried(await call(baseUrl, 'POST', PATH, { headers, json: { externalId: reference } }));
    }
    assert.deepEqual(
      (await keptOf(id)).map(({ source_address }) => source_address),
      ['203.0.113.7', '2001:db8::1', '203.0.113.7', 'fe80::1', '127.0.0.1', '127.0.0.1', '127.0.0.1'],
    );
  });

  it('that is larger than 64 KiB is not read', async () => {
    const { id, reference } = await newPayment();
    const body = JSON.stringify({ externalId: reference, note: 'x'.repeat(65_536) });
    assertError(await callBack({ raw: { type: JSON_TYPE, body } }), 'body_too_large');
    assert.deepEqual(await keptOf(id), []);
  });

  it('whose bytes are no text, and would grow when they are replaced, is not kept either', async () => {
    const { id, reference } = await newPayment();
    const frame = JSON.stringify({ externalId: reference, note: '?' }).split('?');
    const body = Buffer.concat([Buffer.from(frame[0]!), Buffer.alloc(40_000, 0xff), Buffer.from(frame[1]!)]);
    assertError(await callBack({ raw: { type: JSON_TYPE, body } }), 'body_too_large');
    assert.deepEqual(await keptOf(id), []);
  });

  it('that is no JSON is refused', async () => {
    const { reference } = await newPayment();
    const types = ['application/x-www-form-urlencoded', 'text/plain', 'text/xml', ''];
    for (const type of types) {
      assertError(await callBack({ raw: { type, body: `externalId=${reference}` } }), 'media_type_unsupported');
    }
  });

  it('goes to an operator that we know', async () => {
    const response = await call(testEnv.baseUrl, 'POST', '/operators/nobody/callbacks', {
      json: { externalId: randomUUID() },
    });
    assertError(response, 'route_not_found');
  });
});

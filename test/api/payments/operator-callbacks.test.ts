// Operator callbacks over HTTP: stored as evidence, never believed, and unable to fill a disk.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { callbackToken } from '../../../src/security/callback-token.ts';
import { ATTESTATION_RING } from '../../support/attestation.ts';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { exchange } from '../raw-http.ts';
import { API_ONLY, assertError, assertHeaders, startAnotherServer } from '../responses.ts';
import { valuesOf } from '../../support/values-of.ts';
import { allRows, countRows } from '../../db/rows.ts';

const PATH = '/operators/mtn-momo/callbacks';
const JSON_TYPE = 'application/json';

type StoredCallback = {
  readonly body: string;
  readonly content_type: string;
  readonly source_address: string;
  readonly operator: string;
};

describe('an operator’s callback', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const callBack = (options: CallOptions, method = 'POST') =>
    call(testEnv.baseUrl, method, PATH, { idempotencyKey: null, ...options });
  async function newPayment(): Promise<{ id: string; reference: string }> {
    const { json } = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      json: collectionFields(),
    });
    return { id: String(json['id']), reference: String(json['operator_reference']) };
  }
  const storedFor = (id: string) =>
    allRows<StoredCallback>(
      testEnv.db,
      'SELECT body, content_type, source_address, operator FROM operator_callbacks WHERE payment_id = $1 ORDER BY id',
      [id],
    );
  const countStored = () => countRows(testEnv.db, 'operator_callbacks');

  function assertAcknowledged(response: ApiResponse): void {
    assert.equal(response.status, 200, response.text);
    assert.equal(response.text, '{}');
    assertHeaders(response);
  }

  for (const method of ['POST', 'PUT']) {
    it(`is stored byte for byte when it comes by ${method}`, async () => {
      const { id, reference } = await newPayment();
      const body = `{ "externalId":"${reference}",\n "status":"SUCCESSFUL", "amount": 5000.00, "note":"é\\u0000" }`;
      assertAcknowledged(await callBack({ raw: { type: `${JSON_TYPE}; charset=utf-8`, body } }, method));
      assert.deepEqual(await storedFor(id), [
        { body, content_type: `${JSON_TYPE}; charset=utf-8`, source_address: '127.0.0.1', operator: 'mtn-momo' },
      ]);
    });
  }

  it('changes no payment by itself, whatever it says', async () => {
    const { id, reference } = await newPayment();
    assertAcknowledged(
      await callBack({ json: { externalId: reference, status: 'SUCCESSFUL', amount: '5000', currency: 'UGX' } }),
    );
    const { json } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${id}`, { key: testEnv.merchant.key });
    assert.equal(json['state'], 'initiated');
    const balance = await call(testEnv.baseUrl, 'GET', '/v1/api/balance', { key: testEnv.merchant.key });
    assert.equal(balance.json['available'], 0);
  });

  it('gets the same response for an unknown payment, and is not stored', async () => {
    const before = await countStored();
    assertAcknowledged(await callBack({ json: { externalId: randomUUID(), status: 'SUCCESSFUL' } }));
    assert.equal(await countStored(), before);
  });

  describe('at the address that the operator was given for a payment', () => {
    const at = (token: string, options: CallOptions) =>
      call(testEnv.baseUrl, 'POST', `${PATH}/${token}`, { idempotencyKey: null, ...options });
    const tokenOf = (reference: string) => callbackToken('mtn-momo', reference, ATTESTATION_RING);
    const unmatched = async (reference: string) =>
      (
        await testEnv.db.pool.query<{ body: string }>(
          'SELECT body FROM operator_callbacks WHERE operator_reference = $1',
          [reference],
        )
      ).rows;

    it('is stored for this payment, whatever its body says, or without one', async () => {
      const { id, reference } = await newPayment();
      assertAcknowledged(await at(tokenOf(reference), { json: { externalId: randomUUID() } }));
      assertAcknowledged(await at(tokenOf(reference), { raw: { type: JSON_TYPE, body: '<html>' } }));
      assertAcknowledged(await at(tokenOf(reference), {}));
      assert.equal((await storedFor(id)).length, 3);
    });

    it('is kept when the payment is not on record', async () => {
      const reference = randomUUID();
      assertAcknowledged(await at(tokenOf(reference), { json: { externalId: reference, status: 'SUCCESSFUL' } }));
      assert.equal((await unmatched(reference)).length, 1);
    });

    it('is not kept when the token is not ours, and names its payment by its body alone', async () => {
      const { id, reference } = await newPayment();
      const lost = randomUUID();
      const wrong = tokenOf(randomUUID());
      const forged = [
        lost.replaceAll('-', '') + wrong.slice(32),
        tokenOf(lost).slice(0, -1),
        tokenOf(lost).toUpperCase(),
        'x',
        '%00',
      ];
      for (const token of forged) {
        assertAcknowledged(await at(token, { json: { externalId: lost } }));
        assertError(await at(token, { json: {} }), 'body_malformed');
      }
      assert.deepEqual(await unmatched(lost), []);
      assertAcknowledged(await at(forged[0] ?? '', { json: { externalId: reference } }));
      assert.equal((await storedFor(id)).length, 1);
    });
  });

  it('finds its payment by a reference in capital letters, and by the field name of some markets', async () => {
    const { id, reference } = await newPayment();
    assertAcknowledged(await callBack({ json: { externalId: reference.toUpperCase() } }));
    assertAcknowledged(await callBack({ json: { referenceId: reference } }));
    assert.equal((await storedFor(id)).length, 2);
  });

  it('needs no API key, and ignores one', async () => {
    const { reference } = await newPayment();
    assertAcknowledged(await callBack({ key: 'nonsense', json: { externalId: reference } }));
  });

  it('is stored at most twenty times for one payment, and acknowledged each time', async () => {
    const { id, reference } = await newPayment();
    for (let n = 0; n < 25; n++) assertAcknowledged(await callBack({ json: { externalId: reference, n } }));
    const stored = await storedFor(id);
    assert.equal(stored.length, 20);
    const numbers = stored.map(({ body }) => (JSON.parse(body) as { n: number }).n);
    assert.deepEqual(
      numbers,
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  it('is stored in a flood at most once more per database connection', async () => {
    const { id, reference } = await newPayment();
    const responses = await Promise.all(
      Array.from({ length: 150 }, (_, n) => callBack({ json: { externalId: reference, n } })),
    );
    responses.forEach(assertAcknowledged);
    const most = 20 + testEnv.config.settings.MALIPO_DATABASE_POOL_SIZE;
    assert.ok((await storedFor(id)).length <= most);
  });

  const malformed: readonly (readonly [string, string])[] = [
    ['it has no reference', '{"status":"SUCCESSFUL"}'],
    ['its reference has another form', '{"externalId":"INV-1"}'],
    ['its reference is not text', '{"externalId":{"a":1}}'],
    ['it is empty', ''],
    ['it is a list', '[]'],
    ['it is null', 'null'],
    ['it is text', '"paid"'],
    ['it is cut off', '{"externalId":"'],
    ['it would change the prototype of all objects', `{"__proto__":{"externalId":"${randomUUID()}"}}`],
  ];
  for (const [what, body] of malformed) {
    it(`is refused as malformed when ${what}`, async () => {
      const before = await countStored();
      for (const method of ['POST', 'PUT']) {
        assertError(await callBack({ raw: { type: JSON_TYPE, body } }, method), 'body_malformed');
      }
      assert.equal(await countStored(), before);
    });
  }

  it('is stored with the address that a trusted proxy names, if it names one', async () => {
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
      assertAcknowledged(await call(baseUrl, 'POST', PATH, { headers, json: { externalId: reference } }));
    }
    assert.deepEqual(valuesOf(await storedFor(id), 'source_address'), [
      '203.0.113.7',
      '2001:db8::1',
      '203.0.113.7',
      'fe80::1',
      '127.0.0.1',
      '127.0.0.1',
      '127.0.0.1',
    ]);
  });

  it('is refused when it is larger than 64 KiB', async () => {
    const { id, reference } = await newPayment();
    const body = JSON.stringify({ externalId: reference, note: 'x'.repeat(65_536) });
    assertError(await callBack({ raw: { type: JSON_TYPE, body } }), 'body_too_large');
    assert.deepEqual(await storedFor(id), []);
  });

  it('is refused when its bytes are not text and would grow above 64 KiB once replaced', async () => {
    const { id, reference } = await newPayment();
    const frame = JSON.stringify({ externalId: reference, note: '?' }).split('?');
    const body = Buffer.concat([Buffer.from(frame[0]!), Buffer.alloc(40_000, 0xff), Buffer.from(frame[1]!)]);
    assertError(await callBack({ raw: { type: JSON_TYPE, body } }), 'body_too_large');
    assert.deepEqual(await storedFor(id), []);
  });

  it('is read and stored whatever its media type, if it has any: it comes once', async () => {
    const { id, reference } = await newPayment();
    const body = `{"externalId":"${reference}","status":"SUCCESSFUL"}`;
    const types = ['text/plain', 'text/xml; charset=latin1', 'application/x-www-form-urlencoded', 'json', ''];
    for (const type of types) assertAcknowledged(await callBack({ raw: { type, body } }));
    const lines = `PUT ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.match(await exchange(testEnv.baseUrl, lines), /^HTTP\/1\.1 200 /);
    const stored = await storedFor(id);
    assert.deepEqual(valuesOf(stored, 'content_type'), [...types, '']);
    assert.ok(stored.every((one) => one.body === body));
  });

  it('is refused in any media type when it is not JSON, or is compressed', async () => {
    const { id, reference } = await newPayment();
    const types = [JSON_TYPE, 'application/x-www-form-urlencoded', 'text/plain', 'text/xml', ''];
    for (const type of types) {
      assertError(await callBack({ raw: { type, body: `externalId=${reference}` } }), 'body_malformed');
    }
    const raw = { type: JSON_TYPE, body: gzipSync(`{"externalId":"${reference}"}`) };
    assertError(await callBack({ raw, headers: { 'content-encoding': 'gzip' } }), 'media_type_unsupported');
    assert.deepEqual(await storedFor(id), []);
  });

  it('is stored and acknowledged with a name twice, and moves no money', async () => {
    const { id, reference } = await newPayment();
    const bodies = [
      `{"externalId":"${reference}","status":"FAILED","status":"SUCCESSFUL"}`,
      `{"externalId":"${randomUUID()}","externalId":"${reference}","amount":"1","amount":"5000"}`,
      `{"externalId":"${reference}","payer":{"id":"1","id":"2"}}`,
    ];
    for (const body of bodies) assertAcknowledged(await callBack({ raw: { type: JSON_TYPE, body } }));
    assert.deepEqual(valuesOf(await storedFor(id), 'body'), bodies);
    const { json } = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${id}`, { key: testEnv.merchant.key });
    assert.equal(json['state'], 'initiated');
  });

  it('is refused when its operator is unknown', async () => {
    const response = await call(testEnv.baseUrl, 'POST', '/operators/nobody/callbacks', {
      json: { externalId: randomUUID() },
    });
    assertError(response, 'route_not_found');
  });
});

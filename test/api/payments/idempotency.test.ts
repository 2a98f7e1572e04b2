// Idempotency: one key, one payment, one response, for as long as the key is stored.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { idTimeMs, type CollectionId } from '../../../src/domain/ids.ts';
import { call, collectionFields, type CallOptions } from '../../support/api.ts';
import type { TestMerchant } from '../../support/test-environment.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError, assertHeaders } from '../responses.ts';
import { holdIdempotencyKey } from './in-flight-key.ts';
import { countRows } from '../../db/rows.ts';

describe('an idempotency key', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const create = (
    idempotencyKey: string | null,
    options: CallOptions = {},
    merchant: TestMerchant = testEnv.merchant,
  ) =>
    call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: merchant.key,
      idempotencyKey,
      ...(options.raw === undefined && options.form === undefined && { json: collectionFields() }),
      ...options,
    });
  const withHeader = (value: string) => create(null, { headers: { 'idempotency-key': value } });
  const rowsOf = (idempotencyKey: string) =>
    countRows(testEnv.db, 'payments WHERE idempotency_key = $1', [idempotencyKey]);
  const age = (idempotencyKey: string, interval: string) =>
    testEnv.db.pool.query('UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1', [
      idempotencyKey,
      interval,
    ]);

  it('returns the first response again, byte for byte, and creates nothing new', async () => {
    const idempotencyKey = randomUUID();
    const first = await create(idempotencyKey);
    assert.equal(first.status, 202);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    for (let i = 0; i < 3; i++) {
      const again = await create(idempotencyKey);
      assert.equal(again.status, 202);
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(again.headers.get('content-type'), first.headers.get('content-type'));
      assert.notEqual(again.headers.get('malipo-request-id'), first.headers.get('malipo-request-id'));
      assertHeaders(again);
    }
    assert.equal(await rowsOf(idempotencyKey), 1);
  });

  it('recognises the same request in any order of fields, with any white space, and as a form', async () => {
    const idempotencyKey = randomUUID();
    const first = await create(idempotencyKey, { json: collectionFields({ metadata: { a: '1', b: '2' } }) });
    const spaced =
      '{ "metadata" : { "b" : "2", "a" : "1" },\n "reference":"INV-1", "amount" : 5.0e3, "phone":"2567720\\u00300100" }';
    const same: CallOptions[] = [
      { raw: { type: 'application/json; charset=utf-8', body: spaced } },
      { form: { 'metadata[b]': '2', 'metadata[a]': '1', amount: '5000', reference: 'INV-1', phone: '256772000100' } },
    ];
    for (const options of same) {
      const again = await create(idempotencyKey, options);
      assert.equal(again.headers.get('idempotent-replayed'), 'true', again.text);
      assert.equal(again.text, first.text);
    }
  });

  it('creates the same payment from a form as from JSON', async () => {
    const withoutOwn = ({ json }: { json: Record<string, unknown> }) => {
      const own = ['id', 'operator_reference', 'created_at', 'updated_at'];
      return Object.entries(json).filter(([name]) => !own.includes(name));
    };
    const fields = { phone: '256772000100', reference: 'INV-1', description: 'Shoes' };
    const fromJson = await create(randomUUID(), { json: { ...fields, amount: 5000 } });
    const fromForm = await create(randomUUID(), { form: { ...fields, amount: '5000' } });
    assert.deepEqual(withoutOwn(fromForm), withoutOwn(fromJson));
  });

  const different: readonly (readonly [string, Record<string, unknown>])[] = [
    ['another amount', { amount: 5001 }],
    ['another phone', { phone: '256772000101' }],
    ['another reference', { reference: 'inv-1' }],
    ['an added currency, even the right one', { currency: 'UGX' }],
    ['an added description', { description: 'Shoes' }],
    ['added metadata', { metadata: { a: '1' } }],
  ];
  for (const [what, fields] of different) {
    it(`is refused with ${what}, and the first payment stays`, async () => {
      const idempotencyKey = randomUUID();
      const first = await create(idempotencyKey);
      const error = assertError(
        await create(idempotencyKey, { json: collectionFields(fields) }),
        'idempotency_key_reused',
      );
      assert.match(error.message, /already used with different parameters/);
      assert.equal((await create(idempotencyKey)).text, first.text);
      assert.equal(await rowsOf(idempotencyKey), 1);
    });
  }

  it('is refused while another call with it is in flight, and works afterwards', async () => {
    const idempotencyKey = randomUUID();
    const lock = await holdIdempotencyKey(testEnv.db, testEnv.merchant.id, idempotencyKey);
    const refused = await create(idempotencyKey);
    assertError(refused, 'idempotency_key_in_flight');
    assert.equal(refused.headers.get('retry-after'), '1');
    await lock.release();
    assert.equal((await create(idempotencyKey)).status, 202);
    assert.equal(await rowsOf(idempotencyKey), 1);
  });

  it('blocks no other key and no other merchant while it is in flight', async () => {
    const idempotencyKey = randomUUID();
    const stranger = await testEnv.addMerchant();
    const lock = await holdIdempotencyKey(testEnv.db, testEnv.merchant.id, idempotencyKey);
    assert.equal((await create(randomUUID())).status, 202);
    assert.equal((await create(idempotencyKey, {}, stranger)).status, 202);
    await lock.release();
  });

  it('belongs to its merchant: the same key of two merchants makes two payments', async () => {
    const idempotencyKey = randomUUID();
    const stranger = await testEnv.addMerchant();
    const foreign = await create(idempotencyKey, { json: collectionFields({ amount: 7000 }) }, stranger);
    const own = await create(idempotencyKey);
    assert.deepEqual([foreign.status, own.status], [202, 202], own.text);
    assert.notEqual(foreign.json['id'], own.json['id']);
    assert.equal((await create(idempotencyKey)).text, own.text);
    const other = randomUUID();
    assert.equal((await create(other)).status, 202);
    assert.equal((await create(other, {}, stranger)).headers.get('idempotent-replayed'), null);
  });

  it('belongs to its merchant whichever of their API keys is used', async () => {
    const idempotencyKey = randomUUID();
    const first = await create(idempotencyKey);
    const other = await testEnv.addKey(testEnv.merchant.id, ['collections:write']);
    const again = await create(
      idempotencyKey,
      { headers: { authorization: `Bearer ${other}` } },
      { ...testEnv.merchant, key: '' },
    );
    assert.equal(again.text, first.text);
  });

  it('is any 1 to 255 visible ASCII characters, compared exactly', async () => {
    for (const idempotencyKey of ['!', '~', '"quoted"', 'a/b?c#d%20', 'x'.repeat(255), "';DROP/**/TABLE/**/x;--"]) {
      assert.equal((await create(idempotencyKey)).status, 202, idempotencyKey);
      assert.equal(await rowsOf(idempotencyKey), 1);
    }
    const [lower, upper] = [await create('case'), await create('CASE')];
    assert.notEqual(lower.json['id'], upper.json['id']);
  });

  for (const [what, value] of [
    ['a space in it', 'order 1042'],
    ['more than 255 characters', 'x'.repeat(256)],
    ['a tab in it', 'order\t1042'],
    ['a letter that is not ASCII', 'commandé'],
    ['two keys in one header', 'a, b'],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      assertError(await withHeader(value), 'idempotency_key_invalid');
    });
  }

  it('is reported as missing when it is absent or empty', async () => {
    assertError(await create(null), 'idempotency_key_missing');
    assertError(await withHeader(''), 'idempotency_key_missing');
    assertError(await withHeader('   '), 'idempotency_key_missing');
  });

  const unreadable: CallOptions[] = [
    { raw: { type: 'application/json', body: '{"phone":' } },
    { raw: { type: 'text/plain', body: 'pay me' } },
    { raw: { type: 'application/json', body: 'x'.repeat(1_000_000) } },
    { json: { colour: 'red' } },
    {},
  ];
  it('is checked before anything else of the request is read', async () => {
    for (const options of unreadable) {
      assertError(await create(null, options), 'idempotency_key_missing');
      const headers = { 'idempotency-key': 'a b' };
      assertError(await create(null, { ...options, headers }), 'idempotency_key_invalid');
    }
  });

  it('is not required where no money moves', async () => {
    const { key } = testEnv.merchant;
    assert.equal((await call(testEnv.baseUrl, 'GET', '/v1/api/collections', { key })).status, 200);
    assert.equal((await call(testEnv.baseUrl, 'GET', '/v1/api/balance', { key, idempotencyKey: 'a b' })).status, 200);
  });

  it('is stored for 30 days', async () => {
    const idempotencyKey = randomUUID();
    const first = await create(idempotencyKey);
    await age(idempotencyKey, '29 days 23 hours');
    assert.equal((await create(idempotencyKey)).text, first.text);
    assertError(await create(idempotencyKey, { json: collectionFields({ amount: 7000 }) }), 'idempotency_key_reused');
  });

  it('may be used for another payment after 30 days, and is then stored again', async () => {
    const idempotencyKey = randomUUID();
    const first = await create(idempotencyKey);
    await age(idempotencyKey, '30 days 1 minute');
    const second = await create(idempotencyKey, { json: collectionFields({ amount: 7000 }) });
    assert.equal(second.status, 202, second.text);
    assert.equal(second.headers.get('idempotent-replayed'), null);
    assert.notEqual(second.json['id'], first.json['id']);
    const again = await create(idempotencyKey, { json: collectionFields({ amount: 7000 }) });
    assert.equal(again.text, second.text);
    assert.equal(await rowsOf(idempotencyKey), 2);
  });

  it('creates a collection at the time that its id states, in each of many concurrent calls', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => create(randomUUID())));
    for (const { json } of responses) {
      assert.equal(Date.parse(String(json['created_at'])), idTimeMs(json['id'] as CollectionId));
    }
  });

  it('stores no internal error, so that a retry creates the payment', async () => {
    const idempotencyKey = randomUUID();
    await testEnv.db.pool.query('ALTER TABLE payments RENAME TO mislaid');
    const failed = await create(idempotencyKey);
    await testEnv.db.pool.query('ALTER TABLE mislaid RENAME TO payments');
    assertError(failed, 'internal_error');
    const retried = await create(idempotencyKey);
    assert.equal(retried.status, 202);
    assert.equal(retried.headers.get('idempotent-replayed'), null);
    assert.equal(await rowsOf(idempotencyKey), 1);
  });
});

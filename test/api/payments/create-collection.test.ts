// Creating a collection over HTTP: what is accepted, in which formats, and the errors of what is not.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { call, collectionFields, type CallOptions } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError, assertHeaders, issuesOf } from '../responses.ts';
import { collectionCreator, JSON_TYPE, FORM_TYPE, SOUND_FORM } from '../collection-requests.ts';
import { countRows } from '../../db/rows.ts';

describe('creating a collection', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const create = collectionCreator(testEnv);
  const createWith = (fields: Record<string, unknown>) => create({ json: collectionFields(fields) });
  const createFrom = (body: string, type = JSON_TYPE) => create({ raw: { type, body } });

  it('returns 202 with the collection as it was recorded', async () => {
    const response = await createWith({ description: 'Shoes', metadata: { order: '1042' } });
    assert.equal(response.status, 202, response.text);
    assertHeaders(response);
    assert.equal(response.headers.get('idempotent-replayed'), null);
    const { id, created_at: createdAt, operator_reference: reference, ...rest } = response.json;
    assert.match(String(id), /^col_/);
    assert.match(String(reference), /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 10_000);
    assert.deepEqual(rest, {
      state: 'initiated',
      amount: 5000,
      currency: 'UGX',
      reference: 'INV-1',
      phone: '256772000100',
      operator: 'mtn-momo',
      description: 'Shoes',
      metadata: { order: '1042' },
      failure: null,
      amount_reversed: 0,
      updated_at: createdAt,
      prompt_expires_at: null,
    });
  });

  it('returns the same bytes as the fetch route does afterwards', async () => {
    const created = await createWith({ metadata: { z: '1', a: '2' } });
    const fetched = await call(testEnv.baseUrl, 'GET', `/v1/api/collections/${String(created.json['id'])}`, {
      key: testEnv.merchant.key,
    });
    assert.equal(fetched.status, 200);
    assert.equal(fetched.text, created.text);
  });

  it('accepts the longest value of every field, and treats JSON and a form alike', async () => {
    const longest = {
      phone: '256772000100',
      amount: 5_000_000,
      reference: '語'.repeat(100),
      currency: 'UGX',
      description: '😀'.repeat(120),
      metadata: Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [
          `${String(n).padStart(2, '0')}.()&=+%toString`.padEnd(40, '.'),
          '"\n'.repeat(250),
        ]),
      ),
    };
    const form = new URLSearchParams({
      ...longest,
      amount: '5000000',
      metadata: '',
    });
    form.delete('metadata');
    for (const [key, value] of Object.entries(longest.metadata)) form.append(`metadata[${key}]`, value);
    const idempotencyKey = randomUUID();
    const first = await create({ idempotencyKey, json: longest });
    assert.equal(first.status, 202, first.text);
    for (const [name, value] of Object.entries(longest)) assert.deepEqual(first.json[name], value, name);
    const second = await create({ idempotencyKey, form });
    assert.equal(second.headers.get('idempotent-replayed'), 'true', second.text);
    assert.equal(second.text, first.text);
  });

  it('names every missing field when nothing is sent, in any format', async () => {
    const nothing: CallOptions[] = [
      {},
      { raw: { type: JSON_TYPE, body: '' } },
      { raw: { type: JSON_TYPE, body: '{}' } },
      { raw: { type: FORM_TYPE, body: '' } },
    ];
    for (const options of nothing) {
      const response = await create(options);
      assertError(response, 'parameter_missing');
      const missing = ['phone', 'amount', 'reference'].map((name) => `${name} parameter_missing`);
      assert.deepEqual(issuesOf(response), missing, response.text);
    }
  });

  it('names at most a hundred problems', async () => {
    const response = await create({ json: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`k${n}`, ''])) });
    assertError(response, 'parameter_missing');
    assert.equal(issuesOf(response).length, 100);
  });

  it('names every problem at once, and leads with the first', async () => {
    const response = await create({
      json: { phone: '+256772000100', amount: 0, currency: 'ugx', description: '', metadata: { a: 1 }, colour: 'red' },
    });
    const error = assertError(response, 'phone_invalid');
    assert.match(error.message, /digits only, country code first.*256772123456/);
    assert.deepEqual(issuesOf(response).sort(), [
      'amount amount_out_of_bounds',
      'colour parameter_unknown',
      'currency parameter_invalid',
      'description parameter_invalid',
      'metadata.a parameter_invalid',
      'phone phone_invalid',
      'reference parameter_missing',
    ]);
  });

  it('names everything that the operator does not support at once', async () => {
    const response = await createWith({ currency: 'KES', phone: '254712345678', amount: 5_000_000_000 });
    assertError(response, 'parameter_invalid');
    assert.deepEqual(issuesOf(response), [
      'currency parameter_invalid',
      'phone phone_unsupported',
      'amount amount_out_of_bounds',
    ]);
  });

  it('stores nothing of a refused request', async () => {
    const count = () => countRows(testEnv.db, 'idempotency_keys');
    const before = await count();
    const idempotencyKey = randomUUID();
    assertError(await create({ idempotencyKey, json: collectionFields({ amount: 1 }) }), 'amount_out_of_bounds');
    assertError(await create({ idempotencyKey, json: {} }), 'parameter_missing');
    assert.equal(await count(), before);
    assert.equal((await create({ idempotencyKey, json: collectionFields() })).status, 202);
  });

  describe('with an invalid field', () => {
    const wrong: readonly (readonly [string, Record<string, unknown>, string])[] = [
      ['a phone that is a number', { phone: 256772000100 }, 'phone phone_invalid'],
      ['a phone that is null', { phone: null }, 'phone phone_invalid'],
      ['a phone that is a list', { phone: ['256772000100'] }, 'phone phone_invalid'],
      ['a phone with a plus', { phone: '+256772000100' }, 'phone phone_invalid'],
      ['a phone with a leading zero', { phone: '0772000100' }, 'phone phone_invalid'],
      ['a phone with a zero after the country code', { phone: '2560772000100' }, 'phone phone_invalid'],
      ['a phone of a landline', { phone: '256414000100' }, 'phone phone_invalid'],
      ['a phone in digits other than 0 to 9', { phone: '٢٥٦٧٧٢٠٠٠١٠٠' }, 'phone phone_invalid'],
      ['a phone of a network that we do not reach', { phone: '256712000100' }, 'phone phone_unsupported'],
      ['an amount that is text', { amount: '5000' }, 'amount parameter_invalid'],
      ['an amount with a fraction', { amount: 5000.5 }, 'amount parameter_invalid'],
      ['an amount that is true', { amount: true }, 'amount parameter_invalid'],
      ['an amount that is null', { amount: null }, 'amount parameter_invalid'],
      ['an amount of zero', { amount: 0 }, 'amount amount_out_of_bounds'],
      ['a negative amount', { amount: -5000 }, 'amount amount_out_of_bounds'],
      ['an amount below the operator’s minimum', { amount: 99 }, 'amount amount_out_of_bounds'],
      ['an amount above the operator’s maximum', { amount: 5_000_001 }, 'amount amount_out_of_bounds'],
      ['an amount of the largest exact integer', { amount: Number.MAX_SAFE_INTEGER }, 'amount amount_out_of_bounds'],
      ['a reference that is a number', { reference: 1042 }, 'reference parameter_invalid'],
      ['an empty reference', { reference: '' }, 'reference parameter_invalid'],
      ['a reference of spaces', { reference: '   ' }, 'reference parameter_invalid'],
      ['a reference that is too long', { reference: 'x'.repeat(101) }, 'reference parameter_invalid'],
      ['a reference in two lines', { reference: 'a\nb' }, 'reference parameter_invalid'],
      ['a reference with a null character', { reference: 'a\u0000b' }, 'reference parameter_invalid'],
      ['a reference with half a surrogate pair', { reference: '\ud83d' }, 'reference parameter_invalid'],
      ['a currency that the merchant does not have', { currency: 'KES' }, 'currency parameter_invalid'],
      ['a currency in lower case', { currency: 'ugx' }, 'currency parameter_invalid'],
      ['a description that is too long', { description: 'x'.repeat(121) }, 'description parameter_invalid'],
      ['metadata that is text', { metadata: 'order' }, 'metadata parameter_invalid'],
      ['metadata that is a list', { metadata: ['order'] }, 'metadata parameter_invalid'],
      ['metadata with a number as a value', { metadata: { order: 1042 } }, 'metadata.order parameter_invalid'],
      ['metadata with an object as a value', { metadata: { order: {} } }, 'metadata.order parameter_invalid'],
      ['metadata with a value that is too long', { metadata: { a: 'x'.repeat(501) } }, 'metadata.a parameter_invalid'],
      ['metadata with a null character in a value', { metadata: { a: '\u0000' } }, 'metadata.a parameter_invalid'],
      [
        'metadata with a key that is too long',
        { metadata: { ['k'.repeat(41)]: '' } },
        `metadata.${'k'.repeat(41)} parameter_invalid`,
      ],
      ['metadata with an empty key', { metadata: { '': 'x' } }, 'metadata. parameter_invalid'],
      [
        'metadata of twenty-one pairs',
        { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ''])) },
        'metadata parameter_invalid',
      ],
      ['an unknown field', { colour: 'red' }, 'colour parameter_unknown'],
      ['an id, which the server assigns', { id: 'col_1' }, 'id parameter_unknown'],
      ['a field named like a property of every object', { toString: 'x' }, 'toString parameter_unknown'],
      ['a field with a line break in its name', { 'a\nb': 'x' }, 'a\\u{a}b parameter_unknown'],
      [
        'a field with invisible characters in its name',
        { '\u2028\u200e': 'x' },
        '\\u{2028}\\u{200e} parameter_unknown',
      ],
      ['metadata with a line break as a key', { metadata: { '\n': 1 } }, 'metadata.\\u{a} parameter_invalid'],
    ];
    for (const [what, fields, issue] of wrong) {
      it(`refuses ${what}`, async () => {
        const response = await createWith(fields);
        assert.deepEqual(issuesOf(response), [issue], response.text);
        assertError(response, issue.split(' ').at(-1) as 'parameter_invalid');
      });
    }
  });

  it('refuses query parameters', async () => {
    const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections?amount=1', {
      key: testEnv.merchant.key,
      json: collectionFields(),
    });
    assertError(response, 'parameter_unknown');
    assert.deepEqual(issuesOf(response), ['amount parameter_unknown']);
  });

  describe('from a form', () => {
    it('reads an amount of plain digits, with or without leading zeros', async () => {
      for (const amount of ['5000', '0005000']) {
        const response = await createFrom(SOUND_FORM.replace('5000', amount), FORM_TYPE);
        assert.equal(response.json['amount'], 5000, response.text);
      }
    });

    it('decodes plus signs and escapes', async () => {
      const response = await createFrom('phone=256772000100&amount=5000&reference=caf%C3%A9+no%2B1', FORM_TYPE);
      assert.equal(response.json['reference'], 'café no+1', response.text);
    });

    it('reads metadata by name, whatever the name', async () => {
      const names = ['order', 'a.b', 'toString', 'constructor', '0', 'a b', '€'];
      const pairs = names.map((name) => `&metadata[${encodeURIComponent(name)}]=x`).join('');
      const response = await createFrom(SOUND_FORM + pairs, FORM_TYPE);
      const expected = Object.fromEntries(names.map((name) => [name, 'x']));
      assert.deepEqual(response.json['metadata'], expected, response.text);
    });

    const wrong: readonly (readonly [string, string, string])[] = [
      ['an amount with a sign', SOUND_FORM.replace('5000', '%2B5000'), 'amount parameter_invalid'],
      ['an amount with a fraction', SOUND_FORM.replace('5000', '5000.0'), 'amount parameter_invalid'],
      ['an amount with an exponent', SOUND_FORM.replace('5000', '5e3'), 'amount parameter_invalid'],
      ['an amount with a space', SOUND_FORM.replace('5000', '+5000'), 'amount parameter_invalid'],
      ['an amount with separators', SOUND_FORM.replace('5000', '5,000'), 'amount parameter_invalid'],
      ['an amount in hexadecimal', SOUND_FORM.replace('5000', '0x1388'), 'amount parameter_invalid'],
      ['an empty amount', SOUND_FORM.replace('5000', ''), 'amount parameter_invalid'],
      ['an amount of very many digits', SOUND_FORM.replace('5000', '9'.repeat(400)), 'amount parameter_invalid'],
      [
        'an amount above the exact integers',
        SOUND_FORM.replace('5000', '9007199254740993'),
        'amount amount_out_of_bounds',
      ],
      ['a phone with a plus', SOUND_FORM.replace('256', '%2B256'), 'phone phone_invalid'],
      ['an amount given twice', `${SOUND_FORM}&amount=5000`, 'amount parameter_invalid'],
      ['a phone given twice', `${SOUND_FORM}&phone=256772000101`, 'phone phone_invalid'],
      ['a reference given a thousand times', SOUND_FORM + '&reference=x'.repeat(1000), 'reference parameter_invalid'],
      ['a field with brackets', `${SOUND_FORM}&amount[]=1`, 'amount[] parameter_unknown'],
      ['a field inside another', SOUND_FORM.replace('phone', 'phone[a]'), 'phone phone_invalid'],
      ['a field inside an unknown one', `${SOUND_FORM}&a[b]=1`, 'a parameter_unknown'],
      ['a field with a dot', `${SOUND_FORM}&metadata.order=1`, 'metadata.order parameter_unknown'],
      [
        'a field named like a property of every object',
        `${SOUND_FORM}&hasOwnProperty=1`,
        'hasOwnProperty parameter_unknown',
      ],
      ['metadata that is text', `${SOUND_FORM}&metadata=order`, 'metadata parameter_invalid'],
      ['metadata both as text and by name', `${SOUND_FORM}&metadata=x&metadata[a]=b`, 'metadata parameter_invalid'],
      ['a metadata name given twice', `${SOUND_FORM}&metadata[a]=b&metadata[a]=c`, 'metadata.a parameter_invalid'],
      ['JSON declared as a form', '{"phone":"256772000100"}', 'phone parameter_missing'],
    ];
    for (const [what, body, issue] of wrong) {
      it(`refuses ${what}`, async () => {
        const response = await createFrom(body, FORM_TYPE);
        assert.equal(response.status, 400, response.text);
        assert.equal(issuesOf(response)[0], issue, response.text);
      });
    }

    for (const name of ['__proto__', '__proto__[amount]', 'metadata[__proto__]']) {
      it(`refuses the field ${name}`, async () => {
        assertError(await createFrom(`${SOUND_FORM}&${name}=1`, FORM_TYPE), 'body_malformed');
      });
    }
  });

  describe('by its media type', () => {
    const json = JSON.stringify(collectionFields());
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/json;charset=UTF-8']) {
      it(`reads JSON as ${type}`, async () => {
        assert.equal((await createFrom(json, type)).status, 202);
      });
    }
    it('reads a form with a charset', async () => {
      assert.equal((await createFrom(SOUND_FORM, `${FORM_TYPE}; charset=utf-8`)).status, 202);
    });
    for (const type of [
      'text/plain',
      'text/json',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'application/vnd.api+json',
      'json',
      '',
    ]) {
      it(`refuses a body ${type === '' ? 'without a media type' : `of type ${type}`}`, async () => {
        assertError(await createFrom(json, type), 'media_type_unsupported');
      });
    }
    it('refuses a compressed body, whether or not it is what it declares', async () => {
      const headers = { 'content-encoding': 'gzip' };
      for (const body of [gzipSync(json), json, gzipSync(Buffer.alloc(10_000_000, 'x'))]) {
        assertError(await create({ raw: { type: JSON_TYPE, body }, headers }), 'media_type_unsupported');
      }
    });
  });
});

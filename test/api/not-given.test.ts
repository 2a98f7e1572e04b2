// Omitted and repeated values of requests: null for an optional field, repeated names, and times in every spelling.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { call, collectionFields } from '../support/api.ts';
import { logInAs } from '../support/people.ts';
import type { Browser } from '../support/browser.ts';
import { fund } from '../support/payouts.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { API_ONLY, assertError, issuesOf } from './responses.ts';

describe('null for an optional field', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let owner: Browser;
  before(async () => {
    owner = await logInAs(testEnv, testEnv.merchant.id, 'owner');
    await fund(testEnv, testEnv.merchant, 50_000);
  });

  const NULLS = { currency: null, description: null, metadata: null };

  for (const path of ['/v1/api/collections', '/v1/api/payouts']) {
    it(`is not given, and makes the same request, at ${path}`, async () => {
      const { key } = testEnv.merchant;
      const idempotencyKey = randomUUID();
      const bare = collectionFields({ amount: 1000 });
      const first = await call(testEnv.baseUrl, 'POST', path, { key, idempotencyKey, json: { ...bare, ...NULLS } });
      assert.equal(first.status, 202, first.text);
      assert.deepEqual([first.json['description'], first.json['metadata']], [null, {}]);
      const again = await call(testEnv.baseUrl, 'POST', path, { key, idempotencyKey, json: bare });
      assert.deepEqual([again.status, again.text], [202, first.text]);
    });
  }

  it('is not given at a checkout, defaults included', async () => {
    const idempotencyKey = randomUUID();
    const bare = { amount: 1000, reference: 'INV-1' };
    const nulls = { ...NULLS, use: null, expires_at: null, return_url: null };
    const json = { ...bare, ...nulls };
    const first = await owner.call('POST', '/v1/console/checkouts', { idempotencyKey, json });
    assert.deepEqual([first.status, first.json['use'], first.json['return_url']], [201, 'one_time', null], first.text);
    const again = await owner.call('POST', '/v1/console/checkouts', { idempotencyKey, json: bare });
    assert.equal(again.text, first.text);
  });

  it('is not given in the objects of a list', async () => {
    const payout = { phone: '256772000100', amount: 1000, reference: 'PAY-1', ...NULLS };
    const row = { idempotency_keys: [randomUUID()], payout };
    const { status, json, text } = await owner.call('POST', '/v1/console/payouts/check', { json: { rows: [row] } });
    assert.equal(status, 200, text);
    assert.deepEqual((json['data'] as { errors: unknown[] }[])[0]?.errors, []);
  });

  it('means absent when a key is created, and no change', async () => {
    const nulls = { expires_at: null, allowed_addresses: null };
    const json = { name: 'Shop', scopes: ['balance:read'], ...nulls };
    const created = await owner.call('POST', '/v1/console/keys', { json });
    assert.deepEqual([created.status, created.json['allowed_addresses']], [201, null], created.text);
    const endpoint = await owner.call('POST', '/v1/console/endpoints', {
      json: { url: 'https://shop.example/hooks', description: 'Shop', event_types: null },
    });
    const path = `/v1/console/endpoints/${String(endpoint.json['id'])}`;
    assertError(await owner.call('PATCH', path, { json: { url: null, state: null } }), 'parameter_invalid');
    // Where null has a meaning of its own, it keeps that.
    const changed = await owner.call('PATCH', path, { json: { url: null, description: null } });
    assert.deepEqual([changed.json['url'], changed.json['description']], ['https://shop.example/hooks', null]);
  });

  it('is refused for a required field, and as the value of a pair', async () => {
    const { key } = testEnv.merchant;
    const json = collectionFields({ phone: null, amount: null, metadata: { order: null } });
    const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json });
    const expected = ['phone phone_invalid', 'amount parameter_invalid', 'metadata.order parameter_invalid'];
    assert.deepEqual(issuesOf(response), expected);
  });

  it('is refused for a field that there is not, also one that every object has', async () => {
    const { key } = testEnv.merchant;
    const json = collectionFields({ colour: null, constructor: null, toString: null });
    const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json });
    const expected = ['colour', 'constructor', 'toString'].map((name) => `${name} parameter_unknown`);
    assert.deepEqual(issuesOf(response), expected);
  });
});

describe('a name that comes more than once', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const get = (query: string) =>
    call(testEnv.baseUrl, 'GET', `/v1/api/collections?${query}`, { key: testEnv.merchant.key });

  it('is named as such in a query, whatever the parameter', async () => {
    const messages: readonly (readonly [string, string])[] = [
      ['limit=1&limit=2', 'limit was given twice. Send it once.'],
      ['limit=1&limit=1', 'limit was given twice. Send it once.'],
      ['state=failed&state=failed&state=expired', 'state was given 3 times. Send it once.'],
      ['created_from=a&created_from=b', 'created_from was given twice. Send it once.'],
      ['cursor=a&cursor=b', 'cursor was given twice. Send it once.'],
    ];
    for (const [query, message] of messages) {
      const response = await get(query);
      assert.equal(response.status, 400);
      assert.equal(response.json.error?.['message'], message);
    }
  });

  it('is named as such in a form, within pairs too', async () => {
    const form = new URLSearchParams([
      ['phone', '256772000100'],
      ['amount', '5000'],
      ['amount', '5000'],
      ['reference', 'INV-1'],
      ['metadata[order]', '1'],
      ['metadata[order]', '2'],
    ]);
    const response = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key: testEnv.merchant.key, form });
    const errors = response.json.error?.['errors'] as { message: string }[];
    assert.deepEqual(
      errors.map(({ message }) => message),
      ['amount was given twice. Send it once.', 'metadata.order was given twice. Send it once.'],
    );
  });
});

describe('a time', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  const get = (query: string) =>
    call(testEnv.baseUrl, 'GET', `/v1/api/collections?${query}`, { key: testEnv.merchant.key });

  it('may be written as RFC 3339 in lower case', async () => {
    const { key } = testEnv.merchant;
    const json = collectionFields({ reference: 'LOWER' });
    const created = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', { key, json });
    const at = String(created.json['created_at']);
    const found = async (from: string) =>
      ((await get(`reference=LOWER&created_from=${from}`)).json['data'] as unknown[]).length;
    const later = new Date(Date.parse(at) + 1).toISOString();
    for (const spelled of [(time: string) => time, (time: string) => time.toLowerCase()]) {
      assert.deepEqual([await found(spelled(at)), await found(spelled(later))], [1, 0]);
    }
    assert.equal(await found('2020-01-01t12:00:00%2B03:00'), 1);
  });

  it('with a plus that was not escaped says how to write it', async () => {
    for (const query of [
      'created_from=2026-01-31T12:00:00+03:00',
      'created_to=2026-01-31t12:00:00.123+00:00',
      'created_from=2026-01-31T12:00:00%2003:00',
    ]) {
      assert.match(assertError(await get(query), 'parameter_invalid').message, /%2B/);
    }
    for (const query of ['created_from=2026-01-31%2003:00', 'created_from=x+03:00', 'created_from=2026-01-31+12:00']) {
      assert.doesNotMatch(assertError(await get(query), 'parameter_invalid').message, /%2B/);
    }
  });
});

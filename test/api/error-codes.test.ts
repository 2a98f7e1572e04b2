// Every error code, provoked over HTTP: each one is reachable, and each error response is complete.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { generateApiKey, hashApiKey } from '../../src/security/api-key.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/accounts/member.ts';
import { newId } from '../../src/domain/ids.ts';
import { prefixOf, readPublished } from '../isolation/published.ts';
import { call, collectionFields, type ApiResponse, type CallOptions } from '../support/api.ts';
import { eventually } from '../support/test-environment.ts';
import { useTestEnvironment } from '../support/use-test-environment.ts';
import { fund, release } from '../support/payouts.ts';
import { logInAs, PASSWORD } from '../support/people.ts';
import { API_ONLY, assertError, startAnotherServer } from './responses.ts';
import { holdIdempotencyKey } from './payments/in-flight-key.ts';
import { rewrite } from '../support/attestation.ts';

const COLLECTIONS = '/v1/api/collections';
const BALANCE = '/v1/api/balance';
const CONSOLE = '/v1/console';

describe('the error codes of the API', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const get = (path: string, key: string | null) => call(testEnv.baseUrl, 'GET', path, { key });
  const create = (options: CallOptions) =>
    call(testEnv.baseUrl, 'POST', COLLECTIONS, { key: testEnv.merchant.key, ...options });
  const createWith = (fields: Record<string, unknown>) => create({ json: collectionFields(fields) });

  const callAs = async (role: Role, method: string, path: string, options: CallOptions = {}) =>
    (await logInAs(testEnv, testEnv.merchant.id, role)).call(method, path, options);

  /** A call of an operation on one object, with an id in its path that nothing has. */
  const callWithUnknownId = async (code: ErrorCode) => {
    const { operations } = await readPublished(testEnv.baseUrl);
    const found = operations.find(
      ({ pathNames, isIdempotent, operation: { requestBody, responses } }) =>
        pathNames.length === 1 &&
        !isIdempotent &&
        !requestBody &&
        responses['404']?.description.startsWith(`\`${code}\``),
    );
    assert.ok(
      found,
      `no operation without a body is refused with ${code} for an unknown id: provoke it here by another call`,
    );
    const path = found.path.replace('{id}', newId(prefixOf(found, 'id') as Parameters<typeof newId>[0]));
    return path.startsWith('/v1/api') ? get(path, testEnv.merchant.key) : callAs('owner', found.method, path);
  };

  /** Besides these, each `…_not_found` is provoked by an unknown id. */
  const provocations: Readonly<Partial<Record<ErrorCode, () => Promise<ApiResponse>>>> = {
    api_key_missing: () => get(BALANCE, null),
    api_key_invalid: () => get(BALANCE, generateApiKey('test')),
    api_key_wrong_environment: () => get(BALANCE, generateApiKey('live')),
    api_key_expired: async () => get(BALANCE, await testEnv.addKey(testEnv.merchant.id, ['balance:read'], new Date())),
    api_key_revoked: async () => {
      const key = await testEnv.addKey(testEnv.merchant.id, ['balance:read']);
      await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [hashApiKey(key)]);
      return get(BALANCE, key);
    },
    insufficient_scope: async () => get(BALANCE, await testEnv.addKey(testEnv.merchant.id, ['collections:read'])),
    permission_denied: () => callAs('viewer', 'DELETE', `${CONSOLE}/members/${newId('usr')}`),
    parameter_missing: () => create({ json: { phone: '256772000100', amount: 5000 } }),
    parameter_invalid: () => createWith({ amount: '5000' }),
    parameter_unknown: () => createWith({ colour: 'red' }),
    phone_invalid: () => createWith({ phone: '0772000100' }),
    phone_unsupported: () => createWith({ phone: '254712345678' }),
    amount_out_of_bounds: () => createWith({ amount: 1 }),
    body_malformed: () => create({ raw: { type: 'application/json', body: '{"phone":' } }),
    cursor_invalid: () => get(`${COLLECTIONS}?cursor=abc`, testEnv.merchant.key),
    balance_insufficient: () =>
      call(testEnv.baseUrl, 'POST', '/v1/api/payouts', {
        key: testEnv.merchant.key,
        json: collectionFields({ amount: 4_000_000 }),
      }),
    approval_self: async () => {
      await fund(testEnv, testEnv.merchant, 5000);
      const both = await logInAs(testEnv, testEnv.merchant.id, 'maker', 'approver');
      const request = { json: collectionFields(), idempotencyKey: randomUUID() };
      const { json } = await both.call('POST', '/v1/api/payouts', request);
      return release(both, { id: String(json['id']) });
    },
    reversal_not_found: async () => {
      const { json } = await createWith({});
      return callAs('viewer', 'GET', `${CONSOLE}/collections/${String(json['id'])}/reversal`);
    },
    passkey_not_found: () =>
      callAs('owner', 'POST', `${CONSOLE}/session/passkeys/${newId('psk')}/remove`, { json: { password: PASSWORD } }),
    state_conflict: () =>
      callAs('admin', 'POST', `${CONSOLE}/session/second-factor/confirm`, { json: { totp: '123456' } }),
    route_not_found: () => get('/v1/api/nothing', testEnv.merchant.key),
    method_not_allowed: () => call(testEnv.baseUrl, 'DELETE', COLLECTIONS, { key: testEnv.merchant.key }),
    body_too_large: () => createWith({ reference: 'x'.repeat(65_536) }),
    media_type_unsupported: () => create({ raw: { type: 'text/plain', body: 'pay me' } }),
    idempotency_key_missing: () => create({ json: collectionFields(), idempotencyKey: null }),
    idempotency_key_invalid: () => create({ json: collectionFields(), idempotencyKey: 'order 1042' }),
    idempotency_key_reused: async () => {
      const idempotencyKey = randomUUID();
      await create({ json: collectionFields(), idempotencyKey });
      return create({ json: collectionFields({ amount: 6000 }), idempotencyKey });
    },
    idempotency_key_in_flight: async () => {
      const idempotencyKey = randomUUID();
      const lock = await holdIdempotencyKey(testEnv.db, testEnv.merchant.id, idempotencyKey);
      const response = await create({ json: collectionFields(), idempotencyKey });
      await lock.release();
      return response;
    },
    rate_limited: async () => {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_RATE_LIMIT_PER_SECOND: '5' });
      return eventually('a refusal', async () => {
        const response = await call(baseUrl, 'GET', BALANCE, { key: testEnv.merchant.key });
        return response.status === 200 ? null : response;
      });
    },
    internal_error: async () => {
      await testEnv.db.pool.query('ALTER TABLE ledger_accounts RENAME TO mislaid');
      const response = await get(BALANCE, testEnv.merchant.key);
      await testEnv.db.pool.query('ALTER TABLE mislaid RENAME TO ledger_accounts');
      return response;
    },
    service_unavailable: async () => {
      const { baseUrl } = await startAnotherServer(testEnv, { MALIPO_BACKLOG_MAX_COUNT: '1' });
      await createWith({});
      return eventually('a refusal', async () => {
        const response = await call(baseUrl, 'POST', COLLECTIONS, {
          key: testEnv.merchant.key,
          json: collectionFields(),
        });
        return response.status === 202 ? null : response;
      });
    },
  };

  const returned = new Set<ErrorCode>();
  for (const code of ERROR_CODES) {
    const provoke = provocations[code] ?? (code.endsWith('_not_found') ? () => callWithUnknownId(code) : null);
    it(`include ${code}, with a complete error response`, async () => {
      assert.ok(provoke, `say in this file how to provoke ${code}`);
      assertError(await provoke(), code);
      returned.add(code);
    });
  }

  it('are all returned by one of these calls', () => {
    assert.deepEqual([...returned].sort(), [...ERROR_CODES].sort());
  });
});

// Authentication by API key: the state and the scopes of a key are checked before anything else of a request.
import assert from 'node:assert/strict';
import { findApiKeyByHash } from '../../../src/db/accounts/api-key.ts';
import type { Scope } from '../../../src/domain/accounts/api-key.ts';
import { generateApiKey, hashApiKey } from '../../../src/security/api-key.ts';
import { newId } from '../../../src/domain/ids.ts';
import { call, collectionFields } from '../../support/api.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { rewrite } from '../../support/attestation.ts';

const ROUTES: readonly (readonly [string, string, Scope])[] = [
  ['POST', '/v1/api/collections', 'collections:write'],
  ['GET', '/v1/api/collections', 'collections:read'],
  ['GET', `/v1/api/collections/${newId('col')}`, 'collections:read'],
  ['GET', '/v1/api/balance', 'balance:read'],
];
const ALL: readonly Scope[] = [
  'collections:read',
  'collections:write',
  'payouts:read',
  'payouts:write',
  'balance:read',
];

describe('authentication', () => {
  const testEnv = useTestEnvironment(API_ONLY);

  const withHeader = (authorization: string) =>
    call(testEnv.baseUrl, 'GET', '/v1/api/balance', { headers: { authorization } });

  for (const [method, path, scope] of ROUTES) {
    const route = `${method} ${path.replace(/col_.*/, '{id}')}`;

    it(`is required for ${route}`, async () => {
      assertError(await call(testEnv.baseUrl, method, path), 'api_key_missing');
    });

    it(`requires ${scope} alone for ${route}, and names it when a key lacks it`, async () => {
      const without = await testEnv.addKey(
        testEnv.merchant.id,
        ALL.filter((other) => other !== scope),
      );
      const error = assertError(await call(testEnv.baseUrl, method, path, { key: without }), 'insufficient_scope');
      assert.match(error.message, new RegExp(`\\b${scope}\\b`));
      const only = await testEnv.addKey(testEnv.merchant.id, [scope]);
      const response = await call(testEnv.baseUrl, method, path, { key: only });
      assert.ok([200, 400, 404].includes(response.status), response.text);
    });
  }

  it('accepts the scheme in any case, and spaces around the key', async () => {
    const { key } = testEnv.merchant;
    for (const header of [`Bearer ${key}`, `bearer ${key}`, `BEARER   ${key} `]) {
      assert.equal((await withHeader(header)).status, 200, header);
    }
  });

  it('accepts nothing else as a key', async () => {
    const { key } = testEnv.merchant;
    const basic = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
    for (const header of [key, basic, 'Bearer', `Bearer ${key} ${key}`, `Bearer "${key}"`, `Token ${key}`]) {
      assertError(await withHeader(header), 'api_key_invalid');
    }
  });

  it('distinguishes a mistyped key from one of the other environment, and does not reveal whether either exists', async () => {
    const { key } = testEnv.merchant;
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    assertError(await withHeader(`Bearer ${mistyped}`), 'api_key_invalid');
    assertError(await withHeader(`Bearer ${key.toLowerCase()}x`), 'api_key_invalid');
    const error = assertError(await withHeader(`Bearer ${generateApiKey('live')}`), 'api_key_wrong_environment');
    assert.match(error.message, /live key.*test environment/);
  });

  it('refuses a key from the moment it expires', async () => {
    const expired = await testEnv.addKey(testEnv.merchant.id, ['balance:read'], new Date(Date.now() - 1));
    const lasting = await testEnv.addKey(testEnv.merchant.id, ['balance:read'], new Date(Date.now() + 60_000));
    assertError(await withHeader(`Bearer ${expired}`), 'api_key_expired');
    assert.equal((await withHeader(`Bearer ${lasting}`)).status, 200);
  });

  it('refuses a key on the first call after it was revoked, and reports revoked rather than expired', async () => {
    const key = await testEnv.addKey(testEnv.merchant.id, ['balance:read'], new Date(Date.now() + 60_000));
    assert.equal((await withHeader(`Bearer ${key}`)).status, 200);
    const revoke = 'UPDATE api_keys SET revoked_at = now(), expires_at = now() WHERE key_sha256 = $1';
    await rewrite(testEnv.db, revoke, [hashApiKey(key)]);
    assertError(await withHeader(`Bearer ${key}`), 'api_key_revoked');
  });

  it('is checked before the scope, the scope before the idempotency key, and all of them before the body', async () => {
    const reader = await testEnv.addKey(testEnv.merchant.id, ['collections:read']);
    const broken = { idempotencyKey: null, raw: { type: 'text/plain', body: 'x'.repeat(100_000) } } as const;
    const create = (key: string | null) => call(testEnv.baseUrl, 'POST', '/v1/api/collections', { ...broken, key });
    assertError(await create(null), 'api_key_missing');
    assertError(await create(reader), 'insufficient_scope');
    assertError(await create(testEnv.merchant.key), 'idempotency_key_missing');
  });

  it('records the refusal of a known key in its merchant’s audit log, once per hour and reason', async () => {
    const key = await testEnv.addKey(testEnv.merchant.id, ['collections:read']);
    const { id } = (await findApiKeyByHash(testEnv.db, hashApiKey(key)))!;
    const refusals = async () =>
      (
        await testEnv.db.pool.query<{ action: string; outcome: string; reason: string }>(
          `SELECT action, outcome, after->>'reason' AS reason FROM audit_entries WHERE api_key_id = $1 ORDER BY id`,
          [id],
        )
      ).rows;
    for (let n = 0; n < 3; n++) assertError(await withHeader(`Bearer ${key}`), 'insufficient_scope');
    const [lacking, ...more] = await refusals();
    assert.deepEqual([lacking?.action, lacking?.outcome, more], ['GET /v1/api/balance', 'refused', []]);
    assert.match(lacking?.reason ?? '', /^insufficient_scope: .*balance:read/);
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]);
    for (let n = 0; n < 3; n++) assertError(await withHeader(`Bearer ${key}`), 'api_key_revoked');
    assert.equal((await refusals()).length, 2);
    await testEnv.db.pool.query("UPDATE attempt_counters SET window_ends_at = now() WHERE subject LIKE 'refusal/%'");
    assertError(await withHeader(`Bearer ${key}`), 'api_key_revoked');
    assert.match((await refusals())[2]?.reason ?? '', /^api_key_revoked: /);
  });

  it('records when a key was last used, to the minute', async () => {
    const key = await testEnv.addKey(testEnv.merchant.id, ['balance:read']);
    const lastUsed = async () =>
      (
        await testEnv.db.pool.query<{ last_used_at: Date | null }>(
          'SELECT u.last_used_at FROM api_key_uses u JOIN api_keys ON id = api_key_id WHERE key_sha256 = $1',
          [hashApiKey(key)],
        )
      ).rows[0]?.last_used_at;
    assert.equal(await lastUsed(), null);
    await withHeader(`Bearer ${key}`);
    const first = await lastUsed();
    assert.ok(first && Math.abs(first.getTime() - Date.now()) < 10_000);
    await withHeader(`Bearer ${key}`);
    assert.deepEqual(await lastUsed(), first);
    await testEnv.db.pool.query("UPDATE api_key_uses SET last_used_at = now() - interval '61 s'");
    await withHeader(`Bearer ${key}`);
    assert.ok((await lastUsed())! >= first);
  });

  it('stores only the digest of a key', async () => {
    const { rows } = await testEnv.db.pool.query<{ row: string }>('SELECT api_keys::text AS row FROM api_keys');
    const secret = testEnv.merchant.key.slice('sk_test_'.length);
    assert.ok(rows.length > 0 && rows.every(({ row }) => !row.includes(secret)));
    assert.ok(rows.some(({ row }) => row.includes(hashApiKey(testEnv.merchant.key).toString('hex'))));
  });

  it('returns the same response for another merchant’s collection as for one that does not exist', async () => {
    const created = await call(testEnv.baseUrl, 'POST', '/v1/api/collections', {
      key: testEnv.merchant.key,
      json: collectionFields(),
    });
    const stranger = await testEnv.addMerchant();
    const fetchOf = (id: string) => call(testEnv.baseUrl, 'GET', `/v1/api/collections/${id}`, { key: stranger.key });
    const foreign = await fetchOf(String(created.json['id']));
    const unknown = await fetchOf(newId('col'));
    const malformed = await fetchOf('col_1');
    for (const response of [foreign, unknown, malformed]) assertError(response, 'collection_not_found');
    const withoutId = ({ text }: { text: string }) => text.replace(/req_[0-9a-z]{26}/, 'req_');
    assert.equal(withoutId(foreign), withoutId(unknown));
    assert.equal(withoutId(foreign), withoutId(malformed));
    const names = (response: { headers: Headers }) => [...response.headers.keys()];
    assert.deepEqual(names(foreign), names(unknown));
  });
});

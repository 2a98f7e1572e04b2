// Collections of a cached key: accepted in one statement, which finds out by itself what has happened to the key.
import assert from 'node:assert/strict';
import { backlogFull } from '../../../src/domain/errors.ts';
import { randomUUID } from 'node:crypto';
import { createVerifiedKeys } from '../../../src/api/verified-keys.ts';
import { authenticateApiKey } from '../../../src/operations/accounts/authenticate-api-key.ts';
import { createAcceptance, type CreateCollection } from '../../../src/operations/payments/create-collection.ts';
import { findApiKeyByHash, touchApiKey } from '../../../src/db/accounts/api-key.ts';
import type { Database } from '../../../src/db/platform/database.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { call, collectionFields, type CallOptions } from '../../support/api.ts';
import { contextOf, expireIdempotencyKey, countRows } from '../../db/rows.ts';
import { rewrite } from '../../support/attestation.ts';
import { useTestEnvironment } from '../../support/use-test-environment.ts';
import { API_ONLY, assertError } from '../responses.ts';
import { REQUEST } from '../../domain/payments/collections.ts';

const PATH = '/v1/api/collections';

describe('a cached key', () => {
  const testEnv = useTestEnvironment(API_ONLY);
  let key = '';
  beforeEach(async () => {
    key = await testEnv.addKey(testEnv.merchant.id, ['collections:write', 'collections:read']);
    assert.equal((await create()).status, 202);
  });

  const create = (options: CallOptions = {}) =>
    call(testEnv.baseUrl, 'POST', PATH, { key, json: collectionFields(), ...options });
  const idempotencyKey = () => randomUUID();
  const collectionsOf = (usedKey: string) =>
    countRows(testEnv.db, 'payments c JOIN api_keys k ON k.id = c.api_key_id WHERE k.key_sha256 = $1', [
      hashApiKey(usedKey),
    ]);

  it('has its collection accepted in one statement, and in none without the version of its row', async () => {
    const known = (await findApiKeyByHash(testEnv.db, hashApiKey(key)))!;
    let statements = 0;
    const db: Database = {
      ...testEnv.db,
      run: (query, values) => {
        statements += 1;
        return testEnv.db.run(query, values);
      },
      withTransaction: () => assert.fail('a transaction was begun'),
    };
    const acceptCollection = createAcceptance(contextOf(db));
    const input: Omit<CreateCollection, 'at'> & { apiKeyId: typeof known.id } = {
      merchantId: known.merchantId,
      merchantCurrency: known.merchantCurrency,
      apiKeyId: known.id,
      idempotencyKey: idempotencyKey(),
      request: { ...REQUEST, reference: 'R' },
      requestId: 'req_1',
      refusal: null,
    };
    const accept = (keyVersion: string, more: Partial<typeof input> = {}) =>
      acceptCollection({ ...input, ...more, keyVersion, at: new Date() });
    assert.equal(await accept('1 (0,1)'), null);
    assert.equal(await accept(known.rowVersion, { refusal: backlogFull() }), null);
    statements = 0;
    const created = await accept(known.rowVersion);
    assert.deepEqual([created?.kind, statements], ['accepted', 1]);
    assert.equal(await accept(known.rowVersion), null, 'the idempotency key has its response');
  });

  it('is refused at once when it was revoked, has expired, or was changed by hand', async () => {
    for (const [change, code] of [
      ['revoked_at = now()', 'api_key_revoked'],
      ['expires_at = now()', 'api_key_expired'],
    ] as const) {
      const before = await collectionsOf(key);
      await rewrite(testEnv.db, `UPDATE api_keys SET ${change} WHERE key_sha256 = $1`, [hashApiKey(key)]);
      assertError(await create(), code);
      assert.equal(await collectionsOf(key), before);
      key = await testEnv.addKey(testEnv.merchant.id, ['collections:write']);
      await create();
    }
    await testEnv.db.pool.query(`UPDATE api_keys SET expires_at = now() + interval '1 h' WHERE key_sha256 = $1`, [
      hashApiKey(key),
    ]);
    assertError(await create(), 'api_key_invalid');
  });

  it('is refused for what is wrong with it before what is wrong with the request', async () => {
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [hashApiKey(key)]);
    assertError(await create({ idempotencyKey: null }), 'api_key_revoked');
    assertError(await create({ json: { phone: 'nobody' } }), 'api_key_revoked');
    assertError(await create({ raw: { type: 'text/plain', body: 'x' } }), 'api_key_revoked');
    assertError(
      await create({ headers: { 'content-type': 'application/json' }, raw: { type: 'application/json', body: '{' } }),
      'api_key_revoked',
    );
  });

  it('is accepted again when its row was written and it is as good as before', async () => {
    await testEnv.db.pool.query('UPDATE api_keys SET expires_at = expires_at WHERE key_sha256 = $1', [hashApiKey(key)]);
    for (let n = 0; n < 3; n++) assert.equal((await create()).status, 202);
  });

  it('is verified once a minute by one request, which records the use and leaves its row as it is', async () => {
    const verified = await findApiKeyByHash(testEnv.db, hashApiKey(key));
    assert.ok(verified?.lastUsedAt);
    const keys = createVerifiedKeys();
    keys.remember(key, verified);
    const at = new Date(verified.lastUsedAt.getTime() + 61_000);
    const request = { scope: 'collections:write', action: `POST ${PATH}`, address: null, requestId: null, at } as const;
    assert.deepEqual(
      [1, 2, 3].map(() => keys.find(key, request)?.rowVersion),
      [undefined, verified.rowVersion, verified.rowVersion],
    );
    const { lastUsedAt, rowVersion } = await authenticateApiKey(testEnv.db, {
      ...request,
      text: key,
      environment: 'test',
    });
    assert.deepEqual([lastUsedAt, rowVersion], [at, verified.rowVersion]);
    const { id } = verified;
    const USE = 'SELECT last_used_at FROM api_key_uses WHERE api_key_id = $1';
    const stored = async () => (await testEnv.db.pool.query<{ last_used_at: Date }>(USE, [id])).rows[0]?.last_used_at;
    assert.deepEqual(await stored(), at);
    await touchApiKey(testEnv.db, id, new Date(at.getTime() + 1), verified.lastUsedAt);
    assert.deepEqual(await stored(), at, 'another process has recorded one');
  });

  it('gets the stored response of its idempotency key, or learns that it was used otherwise', async () => {
    const used = idempotencyKey();
    const first = await create({ idempotencyKey: used });
    const again = await create({ idempotencyKey: used });
    assert.deepEqual([again.status, again.text, again.headers.get('idempotent-replayed')], [202, first.text, 'true']);
    assertError(
      await create({ idempotencyKey: used, json: collectionFields({ amount: 2500 }) }),
      'idempotency_key_reused',
    );
    await expireIdempotencyKey(testEnv.db, used);
    const anew = await create({ idempotencyKey: used, json: collectionFields({ amount: 2500 }) });
    assert.deepEqual([anew.status, anew.headers.get('idempotent-replayed')], [202, null]);
  });

  it('creates nothing once its revocation is committed, however many requests are in progress', async () => {
    let revokedAtMs = Infinity;
    const post = async () => {
      const begunAtMs = performance.now();
      const { status, json } = await create();
      return { begunAtMs, status, id: json['id'] };
    };
    const posts = Array.from({ length: 8 }, async () => {
      const seen = [];
      for (let n = 0; n < 15; n++) seen.push(await post());
      return seen;
    });
    await testEnv.db.pool.query('SELECT pg_sleep(0.05)');
    await rewrite(testEnv.db, 'UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [hashApiKey(key)]);
    revokedAtMs = performance.now();
    const all = (await Promise.all(posts)).flat();
    const accepted = all.filter(({ status }) => status === 202);
    const refused = all.filter(({ status }) => status === 401);
    assert.equal(accepted.length + refused.length, all.length);
    assert.ok(refused.length > 0);
    assert.ok(
      accepted.every(({ begunAtMs }) => begunAtMs < revokedAtMs),
      'one was accepted after the revocation',
    );
    assert.equal(await collectionsOf(key), accepted.length + 1);
  });
});

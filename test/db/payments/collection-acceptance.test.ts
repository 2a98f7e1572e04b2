// Collections that are accepted together in one statement: each as if it were alone.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { findApiKeyByHash, type ApiKey } from '../../../src/db/accounts/api-key.ts';
import { acceptCollections, type Acceptance } from '../../../src/db/payments/collection-acceptance.ts';
import { claimIdempotencyKey } from '../../../src/db/payments/idempotency-key.ts';
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { MerchantId } from '../../../src/domain/ids.ts';
import type { StateChange } from '../../../src/domain/payments/state-change.ts';
import { createApiKey } from '../../../src/operations/accounts/create-api-key.ts';
import { getCollection } from '../../../src/db/payments/collection.ts';
import { hashApiKey } from '../../../src/security/api-key.ts';
import { testAttestor } from '../../support/attestation.ts';
import { createTestDatabase, openAt } from '../../support/engines.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { makeMerchant, newCollection, expireIdempotencyKey, countRows } from '../rows.ts';
import { valuesOf } from '../../support/values-of.ts';

describe('collections accepted in one statement', () => {
  const announced: StateChange[] = [];
  const fixture = useFixture(openWatched, async ({ db, database }) => {
    await db.close();
    await database.drop();
  });
  let merchantId: MerchantId;
  let key: ApiKey;

  async function openWatched() {
    const database = await createTestDatabase();
    const onStateChange = (change: StateChange) => announced.push(change);
    return { db: openAt(database.url, { poolSize: 8, attestor: testAttestor, onStateChange }), database };
  }

  beforeEach(async () => {
    const { db } = fixture;
    merchantId = await makeMerchant(db);
    const at = new Date();
    const owner = { createdBy: null, by: null, expiresAt: null };
    const scopes = ['collections:write'] as const;
    const made = await createApiKey(db, { merchantId, name: 'k', environment: 'test', scopes, ...owner, at });
    key = (await findApiKeyByHash(db, hashApiKey(made.key)))!;
    announced.length = 0;
  });

  function acceptance(fields: Partial<Collection> = {}, more: Partial<Acceptance> = {}): Acceptance {
    const collection = newCollection(merchantId, { apiKeyId: key.id, ...fields });
    const request = {
      merchantId,
      key: collection.idempotencyKey,
      fingerprint: randomBytes(32),
      at: collection.createdAt,
    };
    return { collection, request, response: { status: 202, body: '{}' }, keyVersion: key.rowVersion, ...more };
  }

  const accept = (...acceptances: readonly Acceptance[]) => acceptCollections(fixture.db, acceptances);
  const idsOf = (acceptances: readonly Acceptance[]) => new Set(acceptances.map(({ collection }) => collection.id));
  const countOf = (sql: string) => countRows(fixture.db, sql);

  it('are recorded whole, with their responses, totals, figures and live updates, and announced', async () => {
    const { db } = fixture;
    const described = {
      description: 'Rent ‘June’ "2"\\',
      metadata: { b: '1', a: '\u2028' },
      amountMinor: 2n ** 53n - 1n,
    };
    const all = [acceptance(described), acceptance(), acceptance({ reference: "O'Neil" })];
    assert.deepEqual(await accept(...all), idsOf(all));
    for (const { collection, request, response } of all) {
      assert.deepEqual(await getCollection(db, merchantId, collection.id), collection);
      assert.deepEqual(await db.withTransaction((tx) => claimIdempotencyKey(tx, request)), response);
    }
    const changes = `state_changes WHERE merchant_id = '${merchantId}' AND to_state = 'initiated'`;
    assert.equal(await countOf(changes), all.length);
    assert.equal(await countOf(`${changes} AND operator IS NOT NULL`), all.length);
    assert.deepEqual(new Set(announced.map(({ id }) => id)), idsOf(all));
  });

  it('are accepted without those whose API key was written since or is not there', async () => {
    const good = acceptance();
    const stale = acceptance({}, { keyVersion: '1 (0,1)' });
    const unknown = acceptance({ apiKeyId: 'key_00000000000000000000000000' as ApiKey['id'] });
    const keyless = acceptance({ apiKeyId: null });
    assert.deepEqual(await accept(stale, good, unknown, keyless), idsOf([good]));
    assert.deepEqual(valuesOf(announced, 'id'), [good.collection.id]);
    assert.equal(await countOf(`idempotency_keys WHERE merchant_id = '${merchantId}'`), 1);
  });

  it('are accepted without those whose idempotency key has a response or is in use', async () => {
    const { db } = fixture;
    const [used, busy, free] = [randomUUID(), randomUUID(), randomUUID()];
    await accept(acceptance({ idempotencyKey: used }));
    await db.withTransaction(async (tx) => {
      await claimIdempotencyKey(tx, acceptance({ idempotencyKey: busy }).request);
      const all = [used, busy, free].map((idempotencyKey) => acceptance({ idempotencyKey }));
      assert.deepEqual(await accept(...all), idsOf(all.slice(2)));
    });
  });

  it('are one where several come with the same idempotency key, also in several statements at once', async () => {
    for (let round = 0; round < 10; round++) {
      const idempotencyKey = randomUUID();
      const batches = Array.from({ length: 6 }, () =>
        Array.from({ length: 3 }, () => acceptance({ idempotencyKey })).concat(acceptance()),
      );
      const accepted = await Promise.all(batches.map((batch) => accept(...batch)));
      const ids = new Set(accepted.flatMap((each) => [...each]));
      assert.equal(ids.size, batches.length + 1);
      assert.equal(await countOf(`payments WHERE kind = 'collection' AND idempotency_key = '${idempotencyKey}'`), 1);
    }
  });

  it('are accepted under a key whose response has expired', async () => {
    const idempotencyKey = randomUUID();
    await accept(acceptance({ idempotencyKey }));
    await expireIdempotencyKey(fixture.db, idempotencyKey);
    const again = acceptance({ idempotencyKey });
    assert.deepEqual(await accept(again), idsOf([again]));
  });

  it('are all left when the database refuses a value of one, so that each is decided by itself', async () => {
    for (const wrong of [{ phone: '0' }, { description: 'a\ud800' }, { currency: 'KES' as const }]) {
      assert.deepEqual(await accept(acceptance(), acceptance(wrong)), new Set());
    }
    assert.equal(await countOf(`payments WHERE kind = 'collection' AND merchant_id = '${merchantId}'`), 0);
    assert.deepEqual(announced, []);
  });

  it('are all left when one was created by nobody of its merchant, at whatever place it stands among them', async () => {
    const { db } = fixture;
    const other = await makeMerchant(db);
    for (const place of [0, 1, 2]) {
      const all = [acceptance(), acceptance(), acceptance()];
      const collection = newCollection(other, { apiKeyId: key.id });
      const request = { ...all[place]!.request, merchantId: other, key: collection.idempotencyKey };
      all[place] = acceptance({}, { collection, request });
      assert.deepEqual(await accept(...all), new Set());
    }
    assert.equal(
      await countOf(`payments WHERE kind = 'collection' AND merchant_id IN ('${merchantId}', '${other}')`),
      0,
    );
  });

  it('fail together when the database does not answer', async () => {
    const { db } = fixture;
    const closed = { ...db, run: () => Promise.reject(new Error('Connection terminated')) };
    await assert.rejects(acceptCollections(closed, [acceptance()]), /Connection terminated/);
  });
});

// What the database announces of changes: each that is committed, once, and none that is not.
import assert from 'node:assert/strict';
import { withSavepoint } from '../../../src/db/platform/database.ts';
import { insertCollection } from '../../../src/db/payments/collection.ts';
import type { StateChange } from '../../../src/domain/payments/state-change.ts';
import { makeMerchant, newCollection, record } from '../rows.ts';
import { testAttestor } from '../../support/attestation.ts';
import { createTestDatabase, openAt } from '../../support/engines.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { valuesOf } from '../../support/values-of.ts';

describe('the changes that the database announces', () => {
  const announced: StateChange[] = [];
  const fixture = useFixture(openWatched, async ({ db: opened, database }) => {
    await opened.close();
    await database.drop();
  });

  async function openWatched() {
    const database = await createTestDatabase();
    const onStateChange = (change: StateChange) => announced.push(change);
    return { db: openAt(database.url, { poolSize: 2, attestor: testAttestor, onStateChange }), database };
  }

  beforeEach(() => {
    announced.length = 0;
  });
  const states = () => announced.map(({ from, to }) => [from, to]);

  it('are announced after their commit, with the request that made the payment', async () => {
    const { db } = fixture;
    const collection = newCollection(await makeMerchant(db), { requestId: 'req_1' });
    await db.withTransaction(async (tx) => {
      await insertCollection(tx, collection);
      assert.deepEqual(announced, []);
    });
    await record(db, collection, { kind: 'prompt_accepted' });
    await record(db, collection, { kind: 'prompt_accepted' });
    assert.deepEqual(states(), [
      [null, 'initiated'],
      ['initiated', 'prompted'],
    ]);
    assert.ok(announced.every(({ id, requestId }) => id === collection.id && requestId === 'req_1'));
  });

  it('are not announced when they are rolled back, as a whole or to a savepoint', async () => {
    const { db } = fixture;
    const merchantId = await makeMerchant(db);
    const kept = newCollection(merchantId);
    await assert.rejects(
      db.withTransaction(async (tx) => {
        await insertCollection(tx, newCollection(merchantId));
        throw new Error('no');
      }),
    );
    await db.withTransaction(async (tx) => {
      await insertCollection(tx, kept);
      await withSavepoint(tx, async () => {
        await insertCollection(tx, newCollection(merchantId));
        throw new Error('no');
      }).catch(() => undefined);
    });
    assert.deepEqual(valuesOf(announced, 'id'), [kept.id]);
  });
});

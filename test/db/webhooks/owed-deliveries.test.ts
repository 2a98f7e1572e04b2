// The database announces deliveries whose first attempt is owed, after their commit.
import assert from 'node:assert/strict';
import { type Database } from '../../../src/db/platform/database.ts';
import { disableEndpoints } from '../../../src/db/webhooks/endpoint.ts';
import { insertEndpointEvent } from '../../../src/db/webhooks/event.ts';
import { insertReplay, resetForReplay } from '../../../src/db/webhooks/replay.ts';
import { newId, type DeliveryId, type EndpointId, type MerchantId } from '../../../src/domain/ids.ts';
import { continueReplay } from '../../../src/operations/webhooks/replay-deliveries.ts';
import { makeShop, queue } from '../payments/payout-rows.ts';
import { makeCollection, makeEndpoint, makeMember, makeMerchant, oneRow } from '../rows.ts';
import { testAttestor } from '../../support/attestation.ts';
import { createTestDatabase, openAt } from '../../support/engines.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

describe('deliveries that are owed', () => {
  let calls = 0;
  const fixture = useFixturePerCase(openWatched, async ({ opened, drop }) => {
    await opened.close();
    await drop();
  });
  let db: Database;
  let merchantId: MerchantId;
  let endpointId: EndpointId;

  async function openWatched() {
    const { url, db: whole, drop } = await createTestDatabase();
    const opened = openAt(url, { poolSize: 2, attestor: testAttestor, onDeliveriesOwed: () => (calls += 1) });
    return { opened, pool: whole.pool, drop };
  }

  beforeEach(async () => {
    db = { ...fixture.opened, pool: fixture.pool };
    merchantId = await makeMerchant(db);
    endpointId = await makeEndpoint(db, merchantId);
    calls = 0;
  });

  /** How often `work` had it passed on. */
  async function callsOf(work: () => Promise<unknown>): Promise<number> {
    const before = calls;
    await work();
    return calls - before;
  }
  const prompted = () => makeCollection(db, merchantId, 'prompted');

  it('are passed on with each change of a collection or payout that an enabled endpoint gets', async () => {
    assert.equal(await callsOf(prompted), 1);
    const shop = await makeShop(db, 10_000n);
    await makeEndpoint(db, shop.merchantId);
    assert.equal(await callsOf(() => queue(db, shop, 1000n)), 1);
  });

  it('are not announced if there are none: of a type that no endpoint selected, or withheld', async () => {
    await db.pool.query("UPDATE endpoints SET event_types = '{collection.failed}'");
    assert.equal(await callsOf(prompted), 0);
    await db.pool.query('UPDATE endpoints SET event_types = NULL');
    await disableEndpoints(db, [endpointId], { reason: 'by_person', at: new Date() });
    assert.equal(await callsOf(prompted), 0);
    assert.equal((await oneRow<{ state: string }>(db, 'SELECT state FROM deliveries')).state, 'withheld');
  });

  const testEvent = () => ({
    ...{ id: newId('evt'), deliveryId: newId('dlv'), merchantId, endpointId, body: '{}', at: new Date() },
    type: 'endpoint.test' as const,
  });

  it('are passed on after the commit of their transaction, once, and never when it is rolled back', async () => {
    const within = await callsOf(() =>
      db.withTransaction(async (tx) => {
        await insertEndpointEvent(tx, testEvent());
        await insertEndpointEvent(tx, testEvent());
        assert.equal(calls, 0);
      }),
    );
    assert.equal(within, 1);
    const rolledBack = await callsOf(() =>
      assert.rejects(
        db.withTransaction(async (tx) => {
          await insertEndpointEvent(tx, testEvent());
          throw new Error('no');
        }),
      ),
    );
    assert.equal(rolledBack, 0);
  });

  it('are passed on when deliveries are replayed, one or many', async () => {
    await prompted();
    await prompted();
    await db.pool.query(
      `UPDATE deliveries SET state = 'dead_lettered', attempt_count = 1, next_attempt_at = NULL, created_at = created_at`,
    );
    const { id } = await oneRow<{ id: DeliveryId }>(db, 'SELECT id FROM deliveries ORDER BY id LIMIT 1');
    const one = await callsOf(() => db.withTransaction((tx) => resetForReplay(tx, id, new Date())));
    assert.equal(one, 1);

    const requestedBy = await makeMember(db, merchantId, ['owner']);
    const at = new Date(Date.now() + 1000);
    await db.withTransaction((tx) =>
      insertReplay(tx, {
        ...{ id: newId('rpl'), merchantId, endpointId: null, states: ['dead_lettered'], requestedBy },
        ...{ madeFrom: null, madeBefore: at, state: 'running', total: 1, replayed: 0, skipped: 0 },
        ...{ createdAt: new Date(), completedAt: null },
      }),
    );
    assert.equal(await callsOf(() => continueReplay(db, 100, new Date())), 1);
    assert.equal(await callsOf(() => continueReplay(db, 100, new Date())), 0);
  });
});

// Whose delivery is claimed next: each endpoint has a line and a bound of its own, and merchants take turns.
import assert from 'node:assert/strict';
import type { Database } from '../../../src/db/database.ts';
import type { DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import { disableEndpoints, setEndpointsFailing } from '../../../src/db/webhooks/endpoint.ts';
import type { EndpointId, MerchantId } from '../../../src/domain/ids.ts';
import { handOverDeliveries } from '../../../src/operations/webhooks/hand-over-deliveries.ts';
import { withholdDeliveries } from '../../../src/operations/webhooks/withhold-deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { claim } from './deliveries.ts';
import { makeCollection, makeEndpoint, makeMerchant } from '../rows.ts';

type Shop = { readonly merchantId: MerchantId; readonly endpointId: EndpointId };

describe('of deliveries that wait', () => {
  let database: TestDatabase;
  let db: Database;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
  });
  afterEach(() => database.drop());

  async function makeShop(waiting: number): Promise<Shop> {
    const merchantId = await makeMerchant(db);
    const endpointId = await makeEndpoint(db, merchantId);
    await makeWaiting(merchantId, waiting);
    return { merchantId, endpointId };
  }

  async function makeWaiting(merchantId: MerchantId, count: number): Promise<void> {
    for (let made = 0; made < count; made++) await makeCollection(db, merchantId, 'prompted');
  }

  const countOf = (claimed: readonly DueDelivery[], { endpointId }: Shop) =>
    claimed.filter((delivery) => delivery.endpointId === endpointId).length;

  it('each merchant has an equal share, however long the line of one is and however old', async () => {
    const burst = await makeShop(60);
    const [second, third] = [await makeShop(10), await makeShop(3)];
    const claimed = await claim(db, 9);
    assert.deepEqual(
      [burst, second, third].map((shop) => countOf(claimed, shop)),
      [3, 3, 3],
    );
  });

  it('one that begins now comes before those who have much under way', async () => {
    const [busy, fresh] = [await makeShop(20), await makeShop(2)];
    const underWay = {
      byEndpoint: new Map([[busy.endpointId, 10]]),
      byMerchant: new Map([[busy.merchantId, 10]]),
    };
    const claimed = await claim(db, 2, { underWay });
    assert.deepEqual(
      [busy, fresh].map((shop) => countOf(claimed, shop)),
      [0, 2],
    );
  });

  it('no more are claimed of one endpoint than its bound, with those that are under way', async () => {
    const [bounded, other] = [await makeShop(20), await makeShop(20)];
    const underWay = { byEndpoint: new Map([[bounded.endpointId, 3]]), byMerchant: new Map() };
    const claimed = await claim(db, 100, { perEndpoint: 8, underWay });
    assert.deepEqual(
      [bounded, other].map((shop) => countOf(claimed, shop)),
      [5, 8],
    );
  });

  it('no more are claimed of one merchant than its bound, over all of its endpoints', async () => {
    const [many, other] = [await makeShop(0), await makeShop(20)];
    for (let more = 0; more < 3; more++) await makeEndpoint(db, many.merchantId);
    await makeWaiting(many.merchantId, 10);
    const underWay = { byEndpoint: new Map(), byMerchant: new Map([[many.merchantId, 5]]) };
    const claimed = await claim(db, 200, { perMerchant: 15, underWay });
    assert.equal(claimed.filter(({ merchantId }) => merchantId === many.merchantId).length, 10);
    assert.equal(countOf(claimed, other), 15);
  });

  it('an endpoint that begins now comes before the others of its merchant', async () => {
    const shop = await makeShop(20);
    const fresh = await makeEndpoint(db, shop.merchantId);
    await makeWaiting(shop.merchantId, 2);
    const underWay = { byEndpoint: new Map([[shop.endpointId, 10]]), byMerchant: new Map([[shop.merchantId, 10]]) };
    const claimed = await claim(db, 2, { underWay });
    assert.deepEqual(
      claimed.map(({ endpointId }) => endpointId),
      [fresh, fresh],
    );
  });

  it('those of disabled endpoints are not claimed, and are withheld', async () => {
    const [asleep, other] = [await makeShop(5), await makeShop(2)];
    await disableEndpoints(db, [asleep.endpointId], { reason: 'by_person', at: new Date() });
    const claimed = await claim(db, 100);
    assert.deepEqual(
      [asleep, other].map((shop) => countOf(claimed, shop)),
      [0, 2],
    );
    assert.equal(await withholdDeliveries(db, 3, new Date()), 3);
    assert.equal(await withholdDeliveries(db, 3, new Date()), 2);
    assert.equal(await withholdDeliveries(db, 3, new Date()), 0);
    const { rows } = await db.pool.query('SELECT endpoint_id, state FROM deliveries GROUP BY 1, 2 ORDER BY 2');
    assert.deepEqual(rows, [
      { endpoint_id: other.endpointId, state: 'pending' },
      { endpoint_id: asleep.endpointId, state: 'withheld' },
    ]);
  });

  it('those of failing endpoints are left to workflows in turn, so that each is tried', async () => {
    const [long, short] = [await makeShop(20), await makeShop(2)];
    await setEndpointsFailing(db, [long.endpointId, short.endpointId], new Date());
    assert.equal(await handOverDeliveries(db, 6), 6);
    const { rows } = await db.pool.query<{ endpoint_id: string; count: number }>(
      "SELECT endpoint_id, count(*)::int AS count FROM deliveries WHERE state = 'retrying' GROUP BY 1",
    );
    const handed = (shop: Shop) => rows.find((row) => row.endpoint_id === shop.endpointId)?.count;
    assert.deepEqual([long, short].map(handed), [4, 2]);
  });

  it('one of a failing endpoint is left to its workflow soon, however old and long the lines of other dead ones are', async () => {
    const dead = [await makeShop(30), await makeShop(30), await makeShop(30)];
    const young = await makeShop(1);
    await setEndpointsFailing(
      db,
      [...dead, young].map(({ endpointId }) => endpointId),
      new Date(),
    );
    for (let pass = 0; pass < 30; pass++) await handOverDeliveries(db, 2);
    const { rows } = await db.pool.query('SELECT state FROM deliveries WHERE endpoint_id = $1', [young.endpointId]);
    assert.deepEqual(rows, [{ state: 'retrying' }], 'by chance once in 2^30 runs');
  });

  it('those of a merchant’s failing endpoints together have its one turn', async () => {
    const many = await makeShop(0);
    for (let more = 0; more < 3; more++) await makeEndpoint(db, many.merchantId);
    await makeWaiting(many.merchantId, 10);
    const other = await makeShop(10);
    await db.pool.query('UPDATE endpoints SET failing_since = now()');
    await handOverDeliveries(db, 4);
    const { rows } = await db.pool.query(
      "SELECT merchant_id, count(*)::int AS count FROM deliveries WHERE state = 'retrying' GROUP BY 1 ORDER BY 1",
    );
    assert.deepEqual(rows, [
      { merchant_id: many.merchantId, count: 2 },
      { merchant_id: other.merchantId, count: 2 },
    ]);
  });
});

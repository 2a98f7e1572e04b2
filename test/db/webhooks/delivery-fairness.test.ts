// Tests which deliveries are claimed next: each endpoint has its own backlog and limit, and merchants take turns.
import assert from 'node:assert/strict';
import { escalateDeliveries, withholdDeliveries, type DueDelivery } from '../../../src/db/webhooks/delivery.ts';
import { disableEndpoints, setEndpointsFailing } from '../../../src/db/webhooks/endpoint.ts';
import type { EndpointId, MerchantId } from '../../../src/domain/ids.ts';
import { claim } from './deliveries.ts';
import { makeCollection, makeEndpoint, makeMerchant, allRows } from '../rows.ts';
import { valuesOf } from '../../support/values-of.ts';
import { useDatabasePerCase } from '../use-database.ts';

type Shop = { readonly merchantId: MerchantId; readonly endpointId: EndpointId };

describe('the choice among waiting deliveries', () => {
  const db = useDatabasePerCase();

  async function createShop(waiting: number): Promise<Shop> {
    const merchantId = await makeMerchant(db);
    const endpointId = await makeEndpoint(db, merchantId);
    await createWaiting(merchantId, waiting);
    return { merchantId, endpointId };
  }

  async function createWaiting(merchantId: MerchantId, count: number): Promise<void> {
    for (let created = 0; created < count; created++) await makeCollection(db, merchantId, 'prompted');
  }

  const countsOf = (claimed: readonly DueDelivery[], ...shops: readonly Shop[]) =>
    shops.map(({ endpointId }) => claimed.filter((delivery) => delivery.endpointId === endpointId).length);

  it('gives each merchant an equal share, however long or old the backlog of one is', async () => {
    const burst = await createShop(60);
    const [second, third] = [await createShop(10), await createShop(3)];
    const claimed = await claim(db, 9);
    assert.deepEqual(countsOf(claimed, burst, second, third), [3, 3, 3]);
  });

  it('prefers a merchant with nothing in flight to one with many attempts in flight', async () => {
    const [busy, fresh] = [await createShop(20), await createShop(2)];
    const inFlight = {
      byEndpoint: new Map([[busy.endpointId, 10]]),
      byMerchant: new Map([[busy.merchantId, 10]]),
    };
    const claimed = await claim(db, 2, { inFlight });
    assert.deepEqual(countsOf(claimed, busy, fresh), [0, 2]);
  });

  it('claims no more of one endpoint than its limit, including the attempts in flight', async () => {
    const [bounded, other] = [await createShop(20), await createShop(20)];
    const inFlight = { byEndpoint: new Map([[bounded.endpointId, 3]]), byMerchant: new Map() };
    const claimed = await claim(db, 100, { perEndpoint: 8, inFlight });
    assert.deepEqual(countsOf(claimed, bounded, other), [5, 8]);
  });

  it('claims deliveries of an endpoint up to its own limit, lower or higher than that of the others', async () => {
    const [slow, quick, other] = [await createShop(20), await createShop(20), await createShop(20)];
    const inFlight = { byEndpoint: new Map([[quick.endpointId, 2]]), byMerchant: new Map() };
    const endpointLimits = new Map([
      [slow.endpointId, 4],
      [quick.endpointId, 16],
    ]);
    const claimed = await claim(db, 100, { perEndpoint: 8, endpointLimits, inFlight });
    assert.deepEqual(countsOf(claimed, slow, quick, other), [4, 14, 8]);
  });

  it('claims nothing of an endpoint whose limit fell below its attempts in flight', async () => {
    const [fallen, other] = [await createShop(20), await createShop(20)];
    const inFlight = { byEndpoint: new Map([[fallen.endpointId, 10]]), byMerchant: new Map() };
    const endpointLimits = new Map([[fallen.endpointId, 4]]);
    const claimed = await claim(db, 100, { perEndpoint: 8, endpointLimits, inFlight });
    assert.deepEqual(countsOf(claimed, fallen, other), [0, 8]);
  });

  it('claims no more of one merchant than its limit, across all its endpoints', async () => {
    const [many, other] = [await createShop(0), await createShop(20)];
    for (let more = 0; more < 3; more++) await makeEndpoint(db, many.merchantId);
    await createWaiting(many.merchantId, 10);
    const inFlight = { byEndpoint: new Map(), byMerchant: new Map([[many.merchantId, 5]]) };
    const claimed = await claim(db, 200, { perMerchant: 15, inFlight });
    assert.equal(claimed.filter(({ merchantId }) => merchantId === many.merchantId).length, 10);
    assert.deepEqual(countsOf(claimed, other), [15]);
  });

  it('prefers an endpoint with nothing in flight to the other endpoints of its merchant', async () => {
    const shop = await createShop(20);
    const fresh = await makeEndpoint(db, shop.merchantId);
    await createWaiting(shop.merchantId, 2);
    const inFlight = { byEndpoint: new Map([[shop.endpointId, 10]]), byMerchant: new Map([[shop.merchantId, 10]]) };
    const claimed = await claim(db, 2, { inFlight });
    assert.deepEqual(valuesOf(claimed, 'endpointId'), [fresh, fresh]);
  });

  it('claims nothing of disabled endpoints, whose deliveries are withheld', async () => {
    const [disabled, other] = [await createShop(5), await createShop(2)];
    await disableEndpoints(db, [disabled.endpointId], { reason: 'by_person', at: new Date() });
    const claimed = await claim(db, 100);
    assert.deepEqual(countsOf(claimed, disabled, other), [0, 2]);
    assert.equal(await withholdDeliveries(db, 3, new Date()), 3);
    assert.equal(await withholdDeliveries(db, 3, new Date()), 2);
    assert.equal(await withholdDeliveries(db, 3, new Date()), 0);
    assert.deepEqual(await allRows(db, 'SELECT endpoint_id, state FROM deliveries GROUP BY 1, 2 ORDER BY 2'), [
      { endpoint_id: other.endpointId, state: 'pending' },
      { endpoint_id: disabled.endpointId, state: 'withheld' },
    ]);
  });

  it('escalates deliveries of failing endpoints in turn, so that each endpoint is tried', async () => {
    const [long, short] = [await createShop(20), await createShop(2)];
    await setEndpointsFailing(db, [long.endpointId, short.endpointId], new Date());
    assert.equal(await escalateDeliveries(db, 6), 6);
    const { rows } = await db.pool.query<{ endpoint_id: string; count: number }>(
      "SELECT endpoint_id, count(*)::int AS count FROM deliveries WHERE state = 'retrying' GROUP BY 1",
    );
    const escalated = (shop: Shop) => rows.find((row) => row.endpoint_id === shop.endpointId)?.count;
    assert.deepEqual([long, short].map(escalated), [4, 2]);
  });

  it('soon escalates the only delivery of a failing endpoint, however old and long other dead backlogs are', async () => {
    const dead = [await createShop(30), await createShop(30), await createShop(30)];
    const young = await createShop(1);
    await setEndpointsFailing(db, valuesOf([...dead, young], 'endpointId'), new Date());
    for (let pass = 0; pass < 30; pass++) await escalateDeliveries(db, 2);
    const { rows } = await db.pool.query('SELECT state FROM deliveries WHERE endpoint_id = $1', [young.endpointId]);
    assert.deepEqual(rows, [{ state: 'retrying' }], 'fails by chance once in 2^30 runs');
  });

  it('gives a merchant one turn for all its failing endpoints together', async () => {
    const many = await createShop(0);
    for (let more = 0; more < 3; more++) await makeEndpoint(db, many.merchantId);
    await createWaiting(many.merchantId, 10);
    const other = await createShop(10);
    await db.pool.query('UPDATE endpoints SET failing_since = now()');
    await escalateDeliveries(db, 4);
    const { rows } = await db.pool.query(
      "SELECT merchant_id, count(*)::int AS count FROM deliveries WHERE state = 'retrying' GROUP BY 1 ORDER BY 1",
    );
    assert.deepEqual(rows, [
      { merchant_id: many.merchantId, count: 2 },
      { merchant_id: other.merchantId, count: 2 },
    ]);
  });
});

// The figures of the service: equal to what the rows say, after any history, however many fold at once.
import assert from 'node:assert/strict';
import { listDurationFigures, listOldestPayments, listPaymentFigures } from '../../src/db/service-figures.ts';
import { foldStateChanges } from '../../src/db/state-changes.ts';
import { COLLECTION_STATES } from '../../src/domain/payments/collection.ts';
import { PAYOUT_STATES } from '../../src/domain/payments/payout.ts';
import { foldAll, makeCollection, makeMerchant, tamper } from './rows.ts';
import { makePayout, makeShop } from './payments/payout-rows.ts';
import { useDatabase } from './use-database.ts';

const FUNDS_MINOR = 10_000_000n;
const TRUTH = `
  SELECT kind, operator, state, count(*)::int AS present FROM payments GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

describe('the figures of the service', () => {
  const db = useDatabase();

  async function assertTrue(): Promise<void> {
    const { rows } = await db.pool.query<object>(TRUTH);
    const figures = (await listPaymentFigures(db)).filter(({ present }) => present !== 0);
    const shown = figures.map(({ kind, operator, state, present }) => ({ kind, operator, state, present }));
    const byName = (one: object, other: object) => JSON.stringify(one).localeCompare(JSON.stringify(other));
    assert.deepEqual(shown.sort(byName), rows.sort(byName));
  }

  it('are those of the rows when several fold at once while payments change', async () => {
    const shop = await makeShop(db, FUNDS_MINOR);
    const stop = { isStopped: false };
    const folding = [1, 3, 7].map(async (limit) => {
      while (!stop.isStopped) await foldStateChanges(db, limit);
    });
    for (const state of COLLECTION_STATES) await makeCollection(db, shop.merchantId, state);
    for (const state of PAYOUT_STATES) await makePayout(db, shop, state);
    stop.isStopped = true;
    await Promise.all(folding);
    await foldAll(db);
    await assertTrue();
    const entered = (await listPaymentFigures(db)).find(({ kind, state }) => kind === 'payout' && state === 'queued');
    assert.equal(entered?.entered, PAYOUT_STATES.length);
  });

  it('time a payment to its first outcome, and not to a later one', async () => {
    const merchantId = await makeMerchant(db);
    const count = async () => (await listDurationFigures(db)).reduce((sum, row) => sum + row.count, 0);
    await foldAll(db);
    const before = await count();
    await makeCollection(db, merchantId, 'reversed');
    await makeCollection(db, merchantId, 'prompted');
    await foldAll(db);
    assert.equal(await count(), before + 1);
  });

  it('name the age of the oldest payment of each state, and 0 without one', async () => {
    const { id } = await makeCollection(db, await makeMerchant(db), 'reconciling');
    await tamper(db, `UPDATE payments SET updated_at = now() - interval '2 hours' WHERE id = $1`, [id]);
    const oldest = await listOldestPayments(db);
    const ageOf = (kind: string, state: string) =>
      oldest.find((row) => row.kind === kind && row.state === state)?.ageSeconds;
    assert.ok((ageOf('collection', 'reconciling') ?? 0) >= 7200);
    assert.equal(ageOf('reversal', 'queued'), 0);
  });
});

// Lists of payouts: what each filter finds, newest first, and page by page.
import assert from 'node:assert/strict';
import { listPayouts, type PayoutFilter } from '../../../src/db/payments/payout.ts';
import { PAYOUT_STATES, statesOfApproval, type Payout, type PayoutState } from '../../../src/domain/payments/payout.ts';
import { makePayout, makeShop, queue, type Shop } from './payout-rows.ts';
import { useDatabase } from '../use-database.ts';

const OTHER_PHONE = '256772000101';

describe('a list of payouts', () => {
  const db = useDatabase();
  let shop: Shop;
  /** Oldest first: one in each state, then two that differ by reference and phone. */
  const payouts: Payout[] = [];

  before(async () => {
    shop = await makeShop(db, 100_000n);
    for (const state of PAYOUT_STATES) payouts.push(await makePayout(db, shop, state));
    payouts.push(await queue(db, shop, 1000n, { reference: 'SAL-2' }));
    payouts.push(await queue(db, shop, 1000n, { reference: 'SAL-2', phone: OTHER_PHONE }));
    const other = await makeShop(db, 100_000n);
    for (let i = 0; i < 3; i++) await queue(db, other, 1000n, { reference: 'SAL-2', phone: OTHER_PHONE });
  });

  const page = async (filter: PayoutFilter) => (await listPayouts(db, shop.merchantId, filter, 100)).items;
  const expected = (fits: (payout: Payout) => boolean) => payouts.filter(fits).reverse();
  const assertListed = async (filter: PayoutFilter, fits: (payout: Payout) => boolean) => {
    assert.deepEqual(await page(filter), expected(fits));
  };
  const isIn =
    (...states: PayoutState[]) =>
    ({ state }: Payout) =>
      states.includes(state);

  it('has all payouts of the merchant and of nobody else, newest first, as they are fetched one by one', async () => {
    await assertListed({}, () => true);
  });

  for (const state of PAYOUT_STATES) {
    it(`finds the payouts that are ${state}`, async () => {
      await assertListed({ states: [state] }, isIn(state));
    });
  }

  it('finds the payouts in any state of an approval state', async () => {
    const states = statesOfApproval('approved');
    assert.equal(states.length, 5);
    await assertListed({ states }, isIn(...states));
  });

  it('finds nothing for an empty list of states', async () => {
    assert.deepEqual(await page({ states: [] }), []);
  });

  it('finds by reference, by phone, and by both', async () => {
    const byReference = expected(({ reference }) => reference === 'SAL-2');
    assert.deepEqual(await page({ reference: 'SAL-2' }), byReference);
    assert.equal(byReference.length, 2);
    assert.deepEqual(await page({ phone: OTHER_PHONE }), payouts.slice(-1));
    assert.deepEqual(await page({ reference: 'SAL-1', phone: OTHER_PHONE }), []);
    assert.deepEqual(await page({ reference: 'SAL-2', phone: OTHER_PHONE, states: ['queued'] }), payouts.slice(-1));
    assert.deepEqual(await page({ reference: 'SAL-2', phone: OTHER_PHONE, states: ['released'] }), []);
  });

  it('finds the payouts created from a time on, or before it', async () => {
    const at = payouts[4]!.createdAt;
    await assertListed({ createdFrom: at }, ({ createdAt }) => createdAt >= at);
    await assertListed({ createdTo: at }, ({ createdAt }) => createdAt < at);
    assert.deepEqual(await page({ createdFrom: at, createdTo: at }), []);
  });

  it('goes on page by page to the end and stays stable while new payouts are created', async () => {
    const seen: Payout[] = [];
    let before: PayoutFilter = {};
    for (let pages = 1; ; pages++) {
      const { items, nextBefore } = await listPayouts(db, shop.merchantId, { reference: 'SAL-1', ...before }, 4);
      seen.push(...items);
      if (pages === 1) await makePayout(db, shop, 'cancelled');
      if (nextBefore === null) break;
      assert.equal(items.length, 4);
      before = { before: nextBefore };
    }
    const all = expected(({ reference }) => reference === 'SAL-1');
    assert.deepEqual(seen, all);
  });

  it('has no next page after a full last page', async () => {
    const { items, nextBefore } = await listPayouts(db, shop.merchantId, { reference: 'SAL-2' }, 2);
    assert.deepEqual([items.length, nextBefore], [2, null]);
  });
});

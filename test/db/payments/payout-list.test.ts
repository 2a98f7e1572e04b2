// Lists of payouts: which ones each filter finds, newest first, and page after page.
import assert from 'node:assert/strict';
import type { Database } from '../../../src/db/database.ts';
import { listPayouts as listRows, type PayoutFilter } from '../../../src/db/payments/payout.ts';
import { PAYOUT_STATES, statesOfApproval, type Payout, type PayoutState } from '../../../src/domain/payments/payout.ts';
import { listPayouts } from '../../../src/queries/payments/list-payouts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/engines.ts';
import { makePayout, makeShop, queue, type Shop } from './payout-rows.ts';

const OTHER_PHONE = '256772000101';

describe('a list of payouts', () => {
  let database: TestDatabase;
  let db: Database;
  let shop: Shop;
  /** Oldest first: one in each state, then two that differ by reference and phone. */
  const made: Payout[] = [];

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
    shop = await makeShop(db, 100_000n);
    for (const state of PAYOUT_STATES) made.push(await makePayout(db, shop, state));
    made.push(await queue(db, shop, 1000n, { reference: 'SAL-2' }));
    made.push(await queue(db, shop, 1000n, { reference: 'SAL-2', phone: OTHER_PHONE }));
    const other = await makeShop(db, 100_000n);
    for (let i = 0; i < 3; i++) await queue(db, other, 1000n, { reference: 'SAL-2', phone: OTHER_PHONE });
  });
  after(() => database.drop());

  const page = (filter: PayoutFilter, limit = 100) => listRows(db, shop.merchantId, filter, limit);
  const expected = (fits: (payout: Payout) => boolean) => made.filter(fits).reverse();
  const isIn =
    (...states: PayoutState[]) =>
    ({ state }: Payout) =>
      states.includes(state);

  it('has all of the merchant’s and nobody else’s, newest first, as they are fetched one by one', async () => {
    assert.deepEqual(
      await page({}),
      expected(() => true),
    );
  });

  for (const state of PAYOUT_STATES) {
    it(`finds by state what is ${state}`, async () => {
      assert.deepEqual(await page({ states: [state] }), expected(isIn(state)));
    });
  }

  it('finds by the state of approval whatever has any of its states', async () => {
    const states = statesOfApproval('approved');
    assert.equal(states.length, 5);
    assert.deepEqual(await page({ states }), expected(isIn(...states)));
  });

  it('finds nothing by no state at all', async () => {
    assert.deepEqual(await page({ states: [] }), []);
  });

  it('finds by reference, by phone, and by both', async () => {
    const byReference = expected(({ reference }) => reference === 'SAL-2');
    assert.deepEqual(await page({ reference: 'SAL-2' }), byReference);
    assert.equal(byReference.length, 2);
    assert.deepEqual(await page({ phone: OTHER_PHONE }), made.slice(-1));
    assert.deepEqual(await page({ reference: 'SAL-1', phone: OTHER_PHONE }), []);
    assert.deepEqual(await page({ reference: 'SAL-2', phone: OTHER_PHONE, states: ['queued'] }), made.slice(-1));
    assert.deepEqual(await page({ reference: 'SAL-2', phone: OTHER_PHONE, states: ['released'] }), []);
  });

  it('finds by time from a moment on, and up to it', async () => {
    const at = made[4]!.createdAt;
    assert.deepEqual(
      await page({ createdFrom: at }),
      expected(({ createdAt }) => createdAt >= at),
    );
    assert.deepEqual(
      await page({ createdTo: at }),
      expected(({ createdAt }) => createdAt < at),
    );
    assert.deepEqual(await page({ createdFrom: at, createdTo: at }), []);
  });

  it('goes on page by page to the end, and holds still while new ones come', async () => {
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
    assert.deepEqual(
      seen,
      expected(({ reference }) => reference === 'SAL-1'),
    );
  });

  it('that ends with a full page has no next one', async () => {
    const { items, nextBefore } = await listPayouts(db, shop.merchantId, { reference: 'SAL-2' }, 2);
    assert.deepEqual([items.length, nextBefore], [2, null]);
  });
});

// The statement of a merchant's accounts: after any history, posted at once or not, each balance is the sum of the entries before.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type MerchantId, newId } from '../../../src/domain/ids.ts';
import type { LedgerEntry, StatementAccount } from '../../../src/domain/payments/ledger.ts';
import { type LedgerEntryFilter, listLedgerEntries } from '../../../src/db/payments/ledger-entry.ts';
import { getBalance } from '../../../src/db/payments/ledger.ts';
import { makeCollection, makeMerchant, paid, record, tamper } from '../rows.ts';
import { useDatabase } from '../use-database.ts';
import { makePayout, makeShop, type Shop } from './payout-rows.ts';
import { columnsOf } from '../../support/values-of.ts';

const FUNDS_MINOR = 1_000_000n;
const STEPS = ['collected', 'reversed', 'held', 'voided', 'paid out', 'returned'] as const;

describe('the statement of the accounts', () => {
  const db = useDatabase();

  async function allEntries(merchantId: MerchantId, filter: LedgerEntryFilter = {}, limit = 3): Promise<LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for (let before: string | null | undefined; before !== null;) {
      const page = await listLedgerEntries(
        db,
        merchantId,
        { ...filter, ...(before !== undefined && { before }) },
        limit,
      );
      entries.push(...page.items);
      before = page.nextBefore;
    }
    return entries;
  }

  function post(shop: Shop, step: (typeof STEPS)[number], amountMinor: bigint): Promise<unknown> {
    const { merchantId } = shop;
    switch (step) {
      case 'collected':
        return makeCollection(db, merchantId, 'succeeded', { amountMinor });
      case 'reversed':
        return makeCollection(db, merchantId, 'reversed', { amountMinor });
      case 'held':
        return makePayout(db, shop, 'queued', amountMinor);
      case 'voided':
        return makePayout(db, shop, 'rejected', amountMinor);
      case 'paid out':
        return makePayout(db, shop, 'succeeded', amountMinor);
      case 'returned':
        return makePayout(db, shop, 'reversed', amountMinor);
    }
  }

  function assertRunning(entries: readonly LedgerEntry[], account: StatementAccount): bigint {
    let balance = 0n;
    let lastAt = 0;
    for (const entry of entries.filter((each) => each.account === account).reverse()) {
      balance += entry.amountMinor;
      assert.equal(entry.balanceMinor, balance, `the balance after entry ${entry.id} of ${account}`);
      assert.ok(entry.postedAt.getTime() >= lastAt, 'the entries are in the order of their times');
      lastAt = entry.postedAt.getTime();
    }
    return balance;
  }

  it('has the sum of the entries before as each balance, whatever was posted at once', async () => {
    const histories = fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.bigInt(100n, 5000n)), {
      minLength: 4,
      maxLength: 16,
    });
    const property = fc.asyncProperty(histories, fc.integer({ min: 1, max: 7 }), async (history, limit) => {
      const shop = await makeShop(db, FUNDS_MINOR);
      await Promise.all(history.map(([step, amountMinor]) => post(shop, step, amountMinor)));
      const entries = await allEntries(shop.merchantId, {}, limit);
      assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length, 'no entry is listed twice');
      const { availableMinor, heldMinor } = await getBalance(db, shop.merchantId);
      assert.equal(assertRunning(entries, 'available'), availableMinor);
      assert.equal(assertRunning(entries, 'held'), heldMinor);
      for (const account of ['available', 'held'] as const) {
        const own = entries.filter((entry) => entry.account === account);
        assert.deepEqual(await allEntries(shop.merchantId, { account }, limit), own);
        for (const kind of new Set(own.map((entry) => entry.kind))) {
          const ofKind = own.filter((entry) => entry.kind === kind);
          assert.deepEqual(await allEntries(shop.merchantId, { account, kind }, limit), ofKind);
        }
      }
    });
    await fc.assert(property, { numRuns: 12 });
  });

  it('goes on in the order of the entries when the clock of the database is set back', async () => {
    const merchantId = await makeMerchant(db);
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 1000n });
    const ahead = "UPDATE ledger_accounts SET last_posted_at = now() + interval '1 hour' WHERE merchant_id = $1";
    await tamper(db, ahead, [merchantId]);
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 200n });
    await makeCollection(db, merchantId, 'succeeded', { amountMinor: 30n });
    const balances = (await allEntries(merchantId, {}, 1)).map(({ balanceMinor }) => balanceMinor);
    assert.deepEqual(balances, [1230n, 1200n, 1000n]);
  });

  it('shows the entries of one payment, of one span of time, and of no other merchant', async () => {
    const shop = await makeShop(db, FUNDS_MINOR);
    const payout = await makePayout(db, shop, 'succeeded', 700n);
    const other = await makeCollection(db, await makeMerchant(db), 'succeeded');
    const ofPayout = await allEntries(shop.merchantId, { paymentId: payout.id });
    assert.deepEqual(columnsOf(ofPayout, 'account', 'kind', 'amountMinor', 'reference'), [
      ['held', 'payout_paid', -700n, 'SAL-1'],
      ['held', 'payout_held', 700n, 'SAL-1'],
      ['available', 'payout_held', -700n, 'SAL-1'],
    ]);
    for (const paymentId of [other.id, newId('col')])
      assert.deepEqual(await allEntries(shop.merchantId, { paymentId }), []);
    const all = await allEntries(shop.merchantId);
    const at = all[1]!.postedAt;
    const from = await allEntries(shop.merchantId, { createdFrom: at });
    const to = await allEntries(shop.merchantId, { createdTo: at });
    assert.deepEqual([...from, ...to], all);
    assert.ok(from.length > 0 && to.length > 0, 'both spans have entries');
  });

  it('shows nothing beneath an entry that does not exist', async () => {
    const merchantId = await makeMerchant(db);
    await record(db, await makeCollection(db, merchantId, 'prompted'), paid());
    assert.deepEqual(await allEntries(merchantId, { before: '999999999999' }), []);
  });
});

// What the check of a posted transfer reads of the ledger, in a database that PostgreSQL knows nothing of yet.
import assert from 'node:assert/strict';
import { makePayout, makeShop } from './payout-rows.ts';
import { makeCollection, makeMerchant, oneRow } from '../rows.ts';
import { createTestDatabase, openOneConnection } from '../../support/engines.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

/** A plan for any values is made once a connection has run a statement five times. */
const TRANSFERS = 12;

async function openNewDatabase() {
  const database = await createTestDatabase();
  return { ...database, one: openOneConnection(database) };
}

describe('a transfer in a database that was never analysed', () => {
  const fixture = useFixturePerCase(openNewDatabase, async ({ one, drop }) => {
    await one.close();
    await drop();
  });

  /** Entries that were read by their number, on each side, and any other way. */
  async function entriesRead() {
    const { one } = fixture;
    await one.pool.query('SELECT pg_stat_force_next_flush()');
    return oneRow<{ credit: number; debit: number; otherwise: number }>(
      one,
      `SELECT sum(idx_tup_read) FILTER (WHERE indexrelname = 'ledger_transfers_one_per_credit_entry')::int AS credit,
         sum(idx_tup_read) FILTER (WHERE indexrelname = 'ledger_transfers_one_per_debit_entry')::int AS debit,
         (sum(idx_tup_read) FILTER (WHERE indexrelname LIKE '%_statement') + max(seq_tup_read))::int AS otherwise
       FROM pg_stat_user_indexes JOIN pg_stat_user_tables USING (relid) WHERE pg_stat_user_tables.relname = 'ledger_transfers'`,
    );
  }

  it('is found by its entry, and no other entry of the account is read', async () => {
    const merchantId = await makeMerchant(fixture.one);
    for (let n = 0; n < TRANSFERS; n++) await makeCollection(fixture.one, merchantId, 'succeeded');
    assert.deepEqual(await entriesRead(), { credit: TRANSFERS, debit: 0, otherwise: 0 });
  });

  it('is found by its entry on both sides', async () => {
    const shop = await makeShop(fixture.one, 100_000n);
    const before = await entriesRead();
    for (let n = 0; n < TRANSFERS; n++) await makePayout(fixture.one, shop, 'queued');
    const { credit, debit, otherwise } = await entriesRead();
    assert.deepEqual([credit - before.credit, debit - before.debit, otherwise], [TRANSFERS, TRANSFERS, 0]);
  });
});

// What the check of a posted transfer reads of the ledger, in a database that PostgreSQL knows nothing of yet.
import assert from 'node:assert/strict';
import { openDatabase } from '../../../src/db/database.ts';
import { makeCollection, makeMerchant, oneRow } from '../rows.ts';
import { createTestDatabase } from '../../support/engines.ts';
import { useFixturePerCase } from '../../support/use-fixture.ts';

/** A plan for any values is made once a connection has run a statement five times. */
const TRANSFERS = 12;

async function openOneConnection() {
  const database = await createTestDatabase();
  const limits = { poolSize: 1, statementTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
  const { attestor } = database.db;
  const one = openDatabase({ ...limits, url: database.url, onIdleError: () => undefined, attestor });
  return { ...database, one };
}

describe('a transfer in a database that was never analysed', () => {
  const fixture = useFixturePerCase(openOneConnection, async ({ one, drop }) => {
    await one.close();
    await drop();
  });

  it('is found by its entry, and no other entry of the account is read', async () => {
    const { one } = fixture;
    const merchantId = await makeMerchant(one);
    for (let n = 0; n < TRANSFERS; n++) await makeCollection(one, merchantId, 'succeeded');
    await one.pool.query('SELECT pg_stat_force_next_flush()');
    const read = await oneRow<{ byEntry: string; otherwise: string }>(
      one,
      `SELECT sum(idx_tup_read) FILTER (WHERE indexrelname = 'ledger_transfers_one_per_credit_entry') AS "byEntry",
         sum(idx_tup_read) FILTER (WHERE indexrelname LIKE '%_statement') + max(seq_tup_read) AS otherwise
       FROM pg_stat_user_indexes JOIN pg_stat_user_tables USING (relid) WHERE pg_stat_user_tables.relname = 'ledger_transfers'`,
    );
    assert.deepEqual(read, { byEntry: String(TRANSFERS), otherwise: '0' });
  });
});

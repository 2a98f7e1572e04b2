// The ids of everything that belongs to a merchant, from the database: the tests check responses against them.
import type { Database } from '../../src/db/platform/database.ts';
import type { MerchantId } from '../../src/domain/ids.ts';

const TABLES_WITH_IDS = `
  SELECT i.table_name AS name FROM information_schema.columns i
    JOIN information_schema.columns m USING (table_schema, table_name)
    JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE i.table_schema = 'public' AND t.table_type = 'BASE TABLE'
    AND i.column_name = 'id' AND m.column_name = 'merchant_id'`;

/** The ids of everything that the merchant owns, of its people, and its own. */
export async function idsOf(db: Database, merchantId: MerchantId): Promise<Set<string>> {
  const { rows: tables } = await db.pool.query<{ name: string }>(TABLES_WITH_IDS);
  const parts = tables.map(({ name }) => `SELECT id::text FROM ${name} WHERE merchant_id = $1`);
  const people = 'SELECT user_id FROM members WHERE merchant_id = $1';
  const passkeys = 'SELECT p.id FROM passkeys p JOIN members m USING (user_id) WHERE m.merchant_id = $1';
  // An entry of a ledger account is numbered by its transfer, and by the account.
  const entries = `SELECT (t.id * 2 + CASE a.kind WHEN 'held' THEN 1 ELSE 0 END)::text FROM ledger_transfers t
    JOIN ledger_accounts a ON a.id IN (t.debit_account_id, t.credit_account_id) WHERE a.merchant_id = $1`;
  const { rows } = await db.pool.query<{ id: string }>([...parts, people, passkeys, entries].join(' UNION ALL '), [
    merchantId,
  ]);
  return new Set([merchantId, ...rows.map(({ id }) => id)]);
}

// Prepares the database for this version: the schema, and the rows that the code itself needs.
import { openDatabase } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { ensureOperatorAccounts } from '../operations/payments/ensure-operator-accounts.ts';

const TIMEOUT_MS = 10_000;

/** Returns the names of the migrations that it applied. Safe to repeat and to run from several processes at once. */
export async function prepareDatabase(url: string): Promise<string[]> {
  const applied = await migrate(url);
  const db = openDatabase({
    url,
    poolSize: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
    onIdleError: () => undefined,
  });
  try {
    await ensureOperatorAccounts(db);
  } finally {
    await db.close();
  }
  return applied;
}

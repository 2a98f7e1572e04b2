// Prepares the database for this version: the schema, and the rows that the code needs.
import { openDatabase, type Database } from '../db/platform/database.ts';
import { findEnvironment, stampEnvironment } from '../db/platform/deployment.ts';
import { migrate } from '../db/platform/migrate.ts';
import type { Environment } from '../domain/event.ts';
import { ensureLedgerAccounts } from '../operations/payments/ensure-ledger-accounts.ts';
import { otherEnvironment } from './check-database.ts';

const TIMEOUT_MS = 10_000;

/**
 * Requires the address of the account that owns the database. Stamps the database with the environment, once. Throws,
 * without a change, if it has the stamp of the other environment. Returns the names of the applied migrations. Safe to
 * repeat and to run from several processes.
 */
export async function prepareDatabase(
  ownerUrl: string,
  environment: Environment,
  report: (line: string) => void = () => undefined,
): Promise<string[]> {
  const db = openDatabase({
    url: ownerUrl,
    poolSize: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: TIMEOUT_MS,
    onIdleError: () => undefined,
  });
  try {
    await refuseOther(db, environment);
    const applied = await migrate(ownerUrl, { report });
    await stampEnvironment(db, environment, new Date());
    await refuseOther(db, environment);
    await ensureLedgerAccounts(db);
    return applied;
  } finally {
    await db.close();
  }
}

/** Accepts an unstamped database. */
async function refuseOther(db: Database, environment: Environment): Promise<void> {
  const stamped = (await findEnvironment(db)) ?? environment;
  if (stamped !== environment) throw otherEnvironment(environment, stamped);
}

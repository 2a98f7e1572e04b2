// Checks the ledger's invariants over all rows.
import type { Database } from '../db/database.ts';
import { findBalanceDrift, findUnpostedCollections, findUnpostedPayouts, type LedgerFault } from '../db/ledger.ts';

/** What is wrong with the ledger, at most 300 faults. The database refuses such rows, so anything here is an alarm. */
export async function checkLedger(db: Database): Promise<LedgerFault[]> {
  return [...(await findBalanceDrift(db)), ...(await findUnpostedCollections(db)), ...(await findUnpostedPayouts(db))];
}

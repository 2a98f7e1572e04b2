// Checks young payments against the ledger: cheap enough for every sweep, however many old ones there are.
import type { Database } from '../../db/database.ts';
import { findUnpostedCollections, findUnpostedPayouts, type LedgerFault } from '../../db/payments/ledger.ts';

const STATEMENT_TIMEOUT_MS = 60_000;

/** Payments made since then whose state and ledger disagree, at most 200. Changes nothing; fails when the signal comes. */
export async function checkRecentPayments(db: Database, madeSince: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  return db.withLongReads(limits, async (reads) => [
    ...(await findUnpostedCollections(reads, madeSince)),
    ...(await findUnpostedPayouts(reads, madeSince)),
  ]);
}

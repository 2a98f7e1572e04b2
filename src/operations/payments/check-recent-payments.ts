// Checks recent payments against the ledger: cheap enough for every sweep, however many older ones there are.
import type { Database } from '../../db/platform/database.ts';
import { findUnpostedCollections, findUnpostedPayouts } from '../../db/payments/unposted.ts';
import { lowestIdAt } from '../../domain/ids.ts';
import { unpostedFault, type LedgerFault } from '../../domain/payments/ledger-fault.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
/** Sorts behind every id. */
const END = '~';

/**
 * Payments created since then whose state and transfers disagree, at most 200. Changes nothing; fails when the signal
 * aborts it.
 */
export async function checkRecentPayments(db: Database, since: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  const after = (prefix: 'col' | 'pay') => lowestIdAt(prefix, since.getTime());
  return db.withLongReads(limits, async (reads) => {
    const collections = await findUnpostedCollections(reads, { after: after('col'), to: END });
    const payouts = await findUnpostedPayouts(reads, { after: after('pay'), to: END });
    return [...collections, ...payouts].map(unpostedFault);
  });
}

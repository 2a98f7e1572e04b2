// Checks recent payments against the ledger: cheap enough for every sweep, however many older ones there are.
import type { Database } from '../../db/platform/database.ts';
import { findUnposted, type IdRange } from '../../db/payments/unposted.ts';
import { lowestIdAt } from '../../domain/ids.ts';
import { unpostedFault, type LedgerFault } from '../../domain/payments/ledger-fault.ts';

const STATEMENT_TIMEOUT_MS = 60_000;
/** At most 200 payments created since whose state and transfers disagree. Changes nothing; fails when aborted. */
export async function checkRecentPayments(db: Database, since: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  const idsSince = (prefix: 'col' | 'pay'): IdRange => ({
    after: lowestIdAt(prefix, since.getTime()),
    // Sorts behind every id of the kind.
    to: `${prefix}_~`,
  });
  return db.withLongReads(limits, async (reads) => {
    const collections = await findUnposted(reads, idsSince('col'));
    const payouts = await findUnposted(reads, idsSince('pay'));
    return [...collections, ...payouts].map(({ id }) => unpostedFault(id));
  });
}

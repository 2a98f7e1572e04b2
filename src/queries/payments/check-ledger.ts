// Checks the ledger's invariants over all rows.
import type { Database } from '../../db/database.ts';
import { findOpenDiscrepancies } from '../../db/payments/discrepancy.ts';
import {
  findBalanceDrift,
  findUnpostedCollections,
  findUnpostedPayouts,
  type LedgerFault,
} from '../../db/payments/ledger.ts';
import { discrepancyText } from '../../domain/payments/discrepancy.ts';

/** Reading millions of payments takes minutes. */
const STATEMENT_TIMEOUT_MS = 25 * 60_000;
const EPOCH = new Date(0);

/**
 * The faults of the ledger, at most 400: rows that the database should have refused, and discrepancies that nobody has
 * settled yet. Every fault is an alarm. Changes nothing; fails when the signal aborts it.
 */
export async function checkLedger(db: Database, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  return db.withLongReads(limits, async (reads) => [
    ...(await findBalanceDrift(reads)),
    ...(await findUnpostedCollections(reads, EPOCH)),
    ...(await findUnpostedPayouts(reads, EPOCH)),
    ...(await findOpenDiscrepancies(reads, 100)).map((found) => ({
      subject: found.subject,
      fault: discrepancyText(found),
    })),
  ]);
}

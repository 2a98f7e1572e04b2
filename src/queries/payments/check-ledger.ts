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

/** Reading all there is takes minutes once there are millions of payments. */
const STATEMENT_TIMEOUT_MS = 25 * 60_000;
const THE_BEGINNING = new Date(0);

/**
 * What is wrong with the ledger, at most 400 faults: rows that the database should have refused, and what operators say
 * otherwise that nobody settled yet. Anything here is an alarm. Changes nothing; fails when the signal comes.
 */
export async function checkLedger(db: Database, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  return db.withLongReads(limits, async (reads) => [
    ...(await findBalanceDrift(reads)),
    ...(await findUnpostedCollections(reads, THE_BEGINNING)),
    ...(await findUnpostedPayouts(reads, THE_BEGINNING)),
    ...(await findOpenDiscrepancies(reads, 100)).map((found) => ({
      subject: found.subject,
      fault: discrepancyText(found),
    })),
  ]);
}

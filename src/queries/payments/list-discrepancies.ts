// Lists what operators say otherwise of payments that have ended, and that nobody settled yet.
import type { Database } from '../../db/database.ts';
import { findOpenDiscrepancies } from '../../db/payments/discrepancy.ts';
import type { Discrepancy } from '../../domain/payments/discrepancy.ts';

/** Those of all merchants, the oldest first, at most `limit`. */
export async function listDiscrepancies(db: Database, limit: number): Promise<Discrepancy[]> {
  return findOpenDiscrepancies(db, limit);
}

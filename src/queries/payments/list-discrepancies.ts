// Lists the discrepancies that nobody has settled yet.
import type { Database } from '../../db/platform/database.ts';
import { findOpenDiscrepancies } from '../../db/payments/discrepancy.ts';
import type { Discrepancy } from '../../domain/payments/discrepancy.ts';

/** The discrepancies of all merchants, oldest first, at most `limit`. */
export async function listDiscrepancies(db: Database, limit: number): Promise<Discrepancy[]> {
  return findOpenDiscrepancies(db, limit);
}

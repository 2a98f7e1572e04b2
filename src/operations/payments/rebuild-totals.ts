// Counts the payments of a merchant again, should its totals ever be wrong.
import type { Database } from '../../db/platform/database.ts';
import { rebuildTotals as rebuild } from '../../db/payments/totals.ts';
import type { MerchantId } from '../../domain/ids.ts';

/** Payments go on meanwhile, and are counted. Repeating it changes nothing. */
export async function rebuildTotals(db: Database, merchantId: MerchantId): Promise<void> {
  await db.withTransaction((tx) => rebuild(tx, merchantId));
}

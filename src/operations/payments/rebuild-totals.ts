// Counts the payments of a merchant again, should its totals ever be wrong.
import type { Database } from '../../db/platform/database.ts';
import { rebuildTotals as rebuild } from '../../db/payments/totals.ts';
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { MerchantId } from '../../domain/ids.ts';

export type RebuildTotals = { readonly merchantId: MerchantId; readonly by: StaffMember; readonly at: Date };

/** Payments go on meanwhile, and are counted. Repeating it changes nothing but the audit log of the merchant. */
export async function rebuildTotals(db: Database, { merchantId, by, at }: RebuildTotals): Promise<void> {
  await db.withTransaction(async (tx) => {
    await rebuild(tx, merchantId);
    await recordStaffAct(tx, merchantId, by, { action: 'totals.rebuilt', subjectId: merchantId, at });
  });
}

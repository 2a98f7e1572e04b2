// Counts the payments of a merchant again, in case its totals are wrong.
import type { Database } from '../../db/platform/database.ts';
import { rebuildTotals as rebuild } from '../../db/payments/totals.ts';
import { recordStaffAct } from '../../db/accounts/audit.ts';
import type { StaffMember } from '../../domain/accounts/staff.ts';
import type { MerchantId } from '../../domain/ids.ts';

export type RebuildTotals = { readonly merchantId: MerchantId; readonly by: StaffMember; readonly at: Date };

/** Payments that change meanwhile are counted. Repeating the call changes only the merchant's audit log. */
export async function rebuildTotals(db: Database, { merchantId, by, at }: RebuildTotals): Promise<void> {
  await db.withTransaction(async (tx) => {
    await rebuild(tx, merchantId);
    await recordStaffAct(tx, merchantId, by, { action: 'totals.rebuilt', subjectId: merchantId, at });
  });
}

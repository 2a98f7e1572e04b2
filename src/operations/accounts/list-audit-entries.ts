// Reads the audit log of a merchant.
import { listAuditEntries as listRows, type AuditFilter } from '../../db/accounts/audit.ts';
import { findNames } from '../../db/accounts/names.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import { shownToMerchant, type ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { MerchantId } from '../../domain/ids.ts';

/** The newest entries that pass the filter, at most `limit`. */
export async function listAuditEntries(
  db: Database,
  merchantId: MerchantId,
  filter: AuditFilter,
  limit: number,
): Promise<Page<ListedAuditEntry>> {
  const { items, nextBefore } = await listRows(db, merchantId, filter, limit);
  const people = items.map(({ userId }) => userId);
  const names = await findNames(db, merchantId, people, []);
  const shown = items.map((entry) => ({
    ...entry,
    user: entry.userId && names.person(entry.userId),
    after: shownToMerchant(entry),
  }));
  return { items: shown, nextBefore };
}

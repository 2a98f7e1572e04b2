// Reads the audit log of a merchant.
import { listAuditEntries as listRows } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import { readPage, type Page } from '../../db/page.ts';
import type { ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { MerchantId } from '../../domain/ids.ts';

/** The newest entries recorded before the entry `before` (null: the newest of all), at most `limit`. */
export async function listAuditEntries(
  db: Database,
  merchantId: MerchantId,
  before: string | null,
  limit: number,
): Promise<Page<ListedAuditEntry>> {
  return readPage(limit, (count) => listRows(db, merchantId, before, count));
}

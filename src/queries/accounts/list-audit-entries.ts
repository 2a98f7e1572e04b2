// Lists what was done and refused at a merchant, newest first.
import { listAuditEntries as listRows } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import type { ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { MerchantId } from '../../domain/ids.ts';

export type AuditPage = { readonly items: readonly ListedAuditEntry[]; readonly nextBefore: string | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). */
export async function listAuditEntries(
  db: Database,
  merchantId: MerchantId,
  before: string | null,
  limit: number,
): Promise<AuditPage> {
  const rows = await listRows(db, merchantId, before, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

// Lists a merchant's collections, newest first.
import { listCollections as listRows, type CollectionFilter } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { CollectionId, MerchantId } from '../../domain/ids.ts';

export type Page = { readonly items: Collection[]; readonly nextBefore: CollectionId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones arrive. */
export async function listCollections(
  db: Database,
  merchantId: MerchantId,
  filter: CollectionFilter,
  limit: number,
): Promise<Page> {
  const rows = await listRows(db, merchantId, filter, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

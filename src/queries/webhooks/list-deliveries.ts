// Lists a merchant's deliveries, newest first.
import type { Database } from '../../db/database.ts';
import { listDeliveries as listRows, type DeliveryFilter } from '../../db/webhooks/delivery-list.ts';
import type { ListedDelivery } from '../../domain/webhooks/delivery.ts';
import type { DeliveryId, MerchantId } from '../../domain/ids.ts';

export type DeliveryPage = { readonly items: readonly ListedDelivery[]; readonly nextBefore: DeliveryId | null };

/**
 * One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones arrive. Another
 * merchant's endpoint or event in the filter is as one that there is not: the page is empty.
 */
export async function listDeliveries(
  db: Database,
  merchantId: MerchantId,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryPage> {
  const rows = await listRows(db, merchantId, filter, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

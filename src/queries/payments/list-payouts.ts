// Lists a merchant's payouts, newest first.
import type { Database } from '../../db/database.ts';
import { listPayouts as listRows, type PayoutFilter } from '../../db/payments/payout.ts';
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import type { Payout } from '../../domain/payments/payout.ts';

export type PayoutPage = { readonly items: Payout[]; readonly nextBefore: PayoutId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones arrive. */
export async function listPayouts(
  db: Database,
  merchantId: MerchantId,
  filter: PayoutFilter,
  limit: number,
): Promise<PayoutPage> {
  const rows = await listRows(db, merchantId, filter, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

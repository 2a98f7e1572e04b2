// Lists a merchant's replays of many deliveries, newest first.
import type { Database } from '../../db/database.ts';
import { listReplays as listRows } from '../../db/webhooks/replay.ts';
import type { MerchantId, ReplayId } from '../../domain/ids.ts';
import type { Replay } from '../../domain/webhooks/replay.ts';

export type ReplayPage = { readonly items: readonly Replay[]; readonly nextBefore: ReplayId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones are made. */
export async function listReplays(
  db: Database,
  merchantId: MerchantId,
  before: ReplayId | null,
  limit: number,
): Promise<ReplayPage> {
  const rows = await listRows(db, merchantId, before, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

// Lists a merchant's events, newest first.
import type { Database } from '../../db/database.ts';
import { listEvents as listRows, type EventFilter } from '../../db/webhooks/event.ts';
import type { ListedEvent } from '../../domain/event.ts';
import type { EventId, MerchantId } from '../../domain/ids.ts';

export type EventPage = { readonly items: readonly ListedEvent[]; readonly nextBefore: EventId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones arrive. */
export async function listEvents(
  db: Database,
  merchantId: MerchantId,
  filter: EventFilter,
  limit: number,
): Promise<EventPage> {
  const rows = await listRows(db, merchantId, filter, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

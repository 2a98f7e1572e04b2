// Reads events, deliveries and replays of a merchant, each with its related objects.
import { findNames } from '../../db/accounts/names.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import { listDeliveriesOfEvent, findDelivery, listAttempts } from '../../db/webhooks/delivery-list.ts';
import { findEvent } from '../../db/webhooks/event.ts';
import { listReplays } from '../../db/webhooks/replay.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { notFound } from '../../domain/errors.ts';
import type { ListedEvent } from '../../domain/event.ts';
import { isId, type MerchantId, type ReplayId } from '../../domain/ids.ts';
import { SHOWN_ATTEMPTS, type ListedDelivery, type RecordedAttempt } from '../../domain/webhooks/delivery.ts';
import type { Replay } from '../../domain/webhooks/replay.ts';

export type EventWithDeliveries = ListedEvent & {
  /** In UTF-8 these are exactly the signed and sent bytes. */
  readonly body: string;
  readonly deliveries: readonly ListedDelivery[];
};

/** Throws `event_not_found`. */
export async function getEvent(db: Database, merchantId: MerchantId, id: string): Promise<EventWithDeliveries> {
  return db.withTransaction(async (tx) => {
    const event = isId('evt', id) ? await findEvent(tx, merchantId, id) : null;
    if (!event) throw notFound('event');
    return { ...event, deliveries: await listDeliveriesOfEvent(tx, merchantId, event.id) };
  });
}

export type DeliveryWithAttempts = ListedDelivery & {
  /** Oldest first, only the last `SHOWN_ATTEMPTS`. */
  readonly attempts: readonly RecordedAttempt[];
};

/** Throws `delivery_not_found`. */
export async function getDelivery(db: Database, merchantId: MerchantId, id: string): Promise<DeliveryWithAttempts> {
  return db.withTransaction(async (tx) => {
    const delivery = isId('dlv', id) ? await findDelivery(tx, merchantId, id) : null;
    if (!delivery) throw notFound('delivery');
    return { ...delivery, attempts: await listAttempts(tx, delivery.id, SHOWN_ATTEMPTS) };
  });
}

export type RequestedReplay = Replay & { readonly person: KnownPerson };

/** The same replays in the same order, with the people who requested them. */
export async function withRequesters(
  db: Database,
  merchantId: MerchantId,
  replays: readonly Replay[],
): Promise<RequestedReplay[]> {
  const people = replays.map(({ requestedBy }) => requestedBy);
  const names = await findNames(db, merchantId, people, []);
  return replays.map((replay) => ({ ...replay, person: names.person(replay.requestedBy) }));
}

/** The newest replays created before `before` (null: the newest of all), at most `limit`. */
export async function listRequestedReplays(
  db: Database,
  merchantId: MerchantId,
  before: ReplayId | null,
  limit: number,
): Promise<Page<RequestedReplay>> {
  const { items, nextBefore } = await listReplays(db, merchantId, before, limit);
  return { items: await withRequesters(db, merchantId, items), nextBefore };
}

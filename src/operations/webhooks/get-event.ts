// Reads the events of a merchant, with the text that is sent and the deliveries.
import type { Database } from '../../db/platform/database.ts';
import { listDeliveriesOfEvent } from '../../db/webhooks/delivery-list.ts';
import { findEvent } from '../../db/webhooks/event.ts';
import type { ListedDelivery } from '../../domain/webhooks/delivery.ts';
import type { ListedEvent } from '../../domain/event.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import { notFound } from '../../domain/errors.ts';

export type EventWithDeliveries = ListedEvent & {
  /** In UTF-8 these are exactly the bytes that are signed and sent. */
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

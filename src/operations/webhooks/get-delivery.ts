// Reads the webhook deliveries of a merchant and the attempts made for them.
import type { Database } from '../../db/platform/database.ts';
import { findDelivery, listAttempts } from '../../db/webhooks/delivery-list.ts';
import { SHOWN_ATTEMPTS, type ListedDelivery, type RecordedAttempt } from '../../domain/webhooks/delivery.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import { notFound } from '../../domain/errors.ts';

export type DeliveryWithAttempts = ListedDelivery & {
  /** Oldest first, and only the last `SHOWN_ATTEMPTS` of them. */
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

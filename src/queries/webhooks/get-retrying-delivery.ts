// Reads a delivery that its workflow owes a further attempt.
import type { Database } from '../../db/database.ts';
import { findRetryingDelivery, type DueDelivery } from '../../db/webhooks/delivery.ts';
import type { DeliveryId } from '../../domain/ids.ts';

/** Null when nothing is owed any more since this replay. */
export async function getRetryingDelivery(
  db: Database,
  id: DeliveryId,
  replayCount: number,
): Promise<DueDelivery | null> {
  return findRetryingDelivery(db, id, replayCount);
}

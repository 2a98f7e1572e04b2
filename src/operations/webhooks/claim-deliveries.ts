// Takes pending deliveries for their first attempt.
import type { Database } from '../../db/database.ts';
import { claimDeliveries as claimRows, type ClaimDeliveries, type DueDelivery } from '../../db/webhooks/delivery.ts';

export type { DueDelivery };

/** As many as the bounds allow, under a lease; who loses the lease loses nothing but the sole right to send. */
export async function claimDeliveries(db: Database, claim: ClaimDeliveries): Promise<DueDelivery[]> {
  return claimRows(db, claim);
}

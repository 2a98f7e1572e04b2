// Takes pending deliveries for their first attempt.
import type { Database } from '../db/database.ts';
import { claimDeliveries as claimRows, type DueDelivery } from '../db/delivery.ts';

export type { DueDelivery };

/** Up to `limit` deliveries under a lease; who loses the lease loses nothing but the sole right to send. */
export async function claimDeliveries(db: Database, limit: number, leaseMs: number): Promise<DueDelivery[]> {
  return claimRows(db, limit, leaseMs);
}

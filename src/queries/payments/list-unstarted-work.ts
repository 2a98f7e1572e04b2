// Finds recorded work that no workflow is known to run for.
import {
  listCollectionsNotStarted,
  measureCollectionsNotStarted,
  type NotStarted,
} from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import { listDeliveriesNotStarted, type DeliveryNotStarted } from '../../db/webhooks/delivery.ts';
import { listPayoutsNotStarted, measurePayoutsNotStarted, type PayoutNotStarted } from '../../db/payments/payout.ts';
import { listReversalsNotStarted, type ReversalNotStarted } from '../../db/payments/reversal.ts';

/** The oldest collections recorded before `recordedBefore`: younger ones are being started by who recorded them. */
export async function listUnstartedCollections(
  db: Database,
  recordedBefore: Date,
  limit: number,
): Promise<NotStarted[]> {
  return listCollectionsNotStarted(db, recordedBefore, limit);
}

/** The same of payouts; one whose decision its workflow was not told of counts too. */
export async function listUnstartedPayouts(
  db: Database,
  recordedBefore: Date,
  limit: number,
): Promise<PayoutNotStarted[]> {
  return listPayoutsNotStarted(db, recordedBefore, limit);
}

export async function listUnstartedReversals(
  db: Database,
  recordedBefore: Date,
  limit: number,
): Promise<ReversalNotStarted[]> {
  return listReversalsNotStarted(db, recordedBefore, limit);
}

export async function listUnstartedDeliveries(db: Database, limit: number): Promise<DeliveryNotStarted[]> {
  return listDeliveriesNotStarted(db, limit);
}

export type Backlog = { readonly count: number; readonly oldestAgeMs: number };

/** How much accepted work waits to be started, counted up to `limit`. */
export async function measureBacklog(db: Database, limit: number): Promise<Backlog> {
  const collections = await measureCollectionsNotStarted(db, limit);
  const payouts = await measurePayoutsNotStarted(db, limit);
  return {
    count: collections.count + payouts.count,
    oldestAgeMs: Math.max(collections.oldestAgeMs, payouts.oldestAgeMs),
  };
}

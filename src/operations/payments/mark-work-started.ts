// Notes that workflows run for recorded work, so that it is not started over and over.
import { markCollectionsStarted as markCollections } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import { markDeliveriesStarted as markDeliveries, type StartedDelivery } from '../../db/webhooks/delivery.ts';
import { markPayoutsStarted as markPayouts, type SignalledPayout } from '../../db/payments/payout.ts';
import { markReversalsStarted as markReversals } from '../../db/payments/reversal.ts';
import type { CollectionId, ReversalId } from '../../domain/ids.ts';

/** Repeating it changes nothing; losing it costs one start that finds the workflow there already. */
export async function markCollectionsStarted(db: Database, ids: readonly CollectionId[], at: Date): Promise<void> {
  if (ids.length > 0) await markCollections(db, ids, at);
}

/** One that was replayed since it was as it is given here is started again. */
export async function markDeliveriesStarted(
  db: Database,
  started: readonly StartedDelivery[],
  at: Date,
): Promise<void> {
  if (started.length > 0) await markDeliveries(db, started, at);
}

export type { SignalledPayout };

/** A payout that changed since it was as it is given here is told again. */
export async function markPayoutsStarted(db: Database, told: readonly SignalledPayout[], at: Date): Promise<void> {
  if (told.length > 0) await markPayouts(db, told, at);
}

export async function markReversalsStarted(db: Database, ids: readonly ReversalId[], at: Date): Promise<void> {
  if (ids.length > 0) await markReversals(db, ids, at);
}

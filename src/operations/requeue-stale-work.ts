// Gives work that stands still back to the dispatcher, which starts its workflow again if none is open.
import { releaseOverdueCollections } from '../db/payments/collection.ts';
import type { Database } from '../db/database.ts';
import { releaseOverdueDeliveries } from '../db/webhooks/delivery.ts';
import { releaseOverduePayouts } from '../db/payments/payout.ts';
import { releaseOverdueReversals } from '../db/payments/reversal.ts';

export type ReleaseOverdueWork = {
  readonly at: Date;
  /** How long a workflow may be late before it counts as lost. */
  readonly overdueAfterMs: number;
  /** How often an expired collection is asked for again, and for how long. */
  readonly lateCheckEveryMs: number;
  readonly lateCheckForMs: number;
  readonly limit: number;
};

export type ReleasedWork = {
  readonly collections: number;
  readonly payouts: number;
  readonly reversals: number;
  readonly deliveries: number;
};

/** Repeating it releases the next ones; a workflow that is alive is not disturbed by it. */
export async function releaseOverdueWork(db: Database, input: ReleaseOverdueWork): Promise<ReleasedWork> {
  const { at, overdueAfterMs, lateCheckForMs, lateCheckEveryMs, limit } = input;
  return db.withTransaction(async (tx) => {
    const collections = await releaseOverdueCollections(tx, {
      dueAt: at,
      nextCheckAt: new Date(at.getTime() + overdueAfterMs),
      nextLateCheckAt: new Date(at.getTime() + lateCheckEveryMs),
      expiredBefore: new Date(at.getTime() - lateCheckForMs),
      limit,
    });
    const again = { dueAt: at, nextCheckAt: new Date(at.getTime() + overdueAfterMs), limit };
    const payouts = await releaseOverduePayouts(tx, again);
    const reversals = await releaseOverdueReversals(tx, again);
    const deliveries = await releaseOverdueDeliveries(tx, new Date(at.getTime() - overdueAfterMs), limit);
    return { collections: collections.length, payouts: payouts.length, reversals, deliveries };
  });
}

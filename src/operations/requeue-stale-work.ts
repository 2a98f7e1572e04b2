// Gives work that stands still back to the dispatcher, which starts its workflow again if none is open.
import { requeueStaleCollections } from '../db/payments/collection.ts';
import type { Database } from '../db/database.ts';
import { requeueStaleDeliveries } from '../db/webhooks/delivery.ts';
import { requeueStalePayouts } from '../db/payments/payout.ts';
import { requeueStaleReversals } from '../db/payments/reversal.ts';

export type RequeueStaleWork = {
  readonly at: Date;
  /** How long a workflow may be late before it counts as lost. */
  readonly overdueAfterMs: number;
  /** How often an expired collection is asked for again, and for how long. */
  readonly lateCheckEveryMs: number;
  readonly lateCheckForMs: number;
  readonly limit: number;
};

export type RequeuedWork = {
  readonly collections: number;
  readonly payouts: number;
  readonly reversals: number;
  readonly deliveries: number;
};

/** Repeating it releases the next ones; a workflow that is alive is not disturbed by it. */
export async function requeueStaleWork(db: Database, input: RequeueStaleWork): Promise<RequeuedWork> {
  const { at, overdueAfterMs, lateCheckForMs, lateCheckEveryMs, limit } = input;
  return db.withTransaction(async (tx) => {
    const collections = await requeueStaleCollections(tx, {
      dueAt: at,
      nextCheckAt: new Date(at.getTime() + overdueAfterMs),
      nextLateCheckAt: new Date(at.getTime() + lateCheckEveryMs),
      expiredBefore: new Date(at.getTime() - lateCheckForMs),
      limit,
    });
    const again = { dueAt: at, nextCheckAt: new Date(at.getTime() + overdueAfterMs), limit };
    const payouts = await requeueStalePayouts(tx, again);
    const reversals = await requeueStaleReversals(tx, again);
    const deliveries = await requeueStaleDeliveries(tx, new Date(at.getTime() - overdueAfterMs), limit);
    return { collections: collections.length, payouts: payouts.length, reversals, deliveries };
  });
}

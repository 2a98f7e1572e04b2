// Requeues work whose workflow is late: the dispatcher starts it again if no workflow is open.
import type { Database } from '../db/database.ts';
import { requeueStale } from '../db/work.ts';
import type { Clocks } from '../domain/clocks.ts';
import type { WorkKind } from '../domain/work.ts';

export type RequeueStaleWork = {
  readonly at: Date;
  readonly clocks: Pick<Clocks, 'staleAfterMs' | 'lateCheckEveryMs' | 'lateCheckForMs'>;
  readonly limit: number;
};

/** How many of each kind. */
export type RequeuedWork = Readonly<Record<WorkKind, number>>;

/** One transaction requeues up to `limit` of each kind; repeating it requeues the next ones. A live workflow is not disturbed. */
export async function requeueStaleWork(db: Database, { at, clocks, limit }: RequeueStaleWork): Promise<RequeuedWork> {
  const inMs = (ms: number) => new Date(at.getTime() + ms);
  const stale = {
    at,
    dueBefore: inMs(-clocks.staleAfterMs),
    nextCheckAt: inMs(clocks.staleAfterMs),
    nextLateCheckAt: inMs(clocks.lateCheckEveryMs),
    expiredBefore: inMs(-clocks.lateCheckForMs),
    limit,
  };
  return db.withTransaction(async (tx) => ({
    collection: await requeueStale(tx, 'collection', stale),
    payout: await requeueStale(tx, 'payout', stale),
    reversal: await requeueStale(tx, 'reversal', stale),
    delivery: await requeueStale(tx, 'delivery', stale),
  }));
}

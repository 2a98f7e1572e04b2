// Starts what is recorded and not started: work whose first starter died, was over its bound, or found Temporal away.
import type { TemporalClient } from '../temporal/client.ts';
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import {
  listUnstartedCollections,
  listUnstartedDeliveries,
  listUnstartedPayouts,
  listUnstartedReversals,
} from '../queries/payments/list-unstarted-work.ts';
import {
  markCollectionsStarted,
  markDeliveriesStarted,
  markPayoutsStarted,
  markReversalsStarted,
} from '../operations/payments/mark-work-started.ts';

export type RecordedWorkOptions = {
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly batchSize: number;
  /** Work younger than this is being started by who recorded it. */
  readonly startGraceMs: number;
  readonly log: Log;
};

/** How many it tried, up to a batch of each kind. */
export async function startRecordedWork(options: RecordedWorkOptions): Promise<number> {
  const { db, temporal, log, batchSize: limit } = options;
  if (!temporal.isConnected()) return 0;
  const at = new Date();
  const before = new Date(at.getTime() - options.startGraceMs);
  const collections = await listUnstartedCollections(db, before, limit);
  const payouts = await listUnstartedPayouts(db, before, limit);
  const reversals = await listUnstartedReversals(db, before, limit);
  const deliveries = await listUnstartedDeliveries(db, limit);
  await markCollectionsStarted(
    db,
    await startAll(collections, (work) => temporal.startCollection(work), log),
    new Date(),
  );
  const told = new Set(await startAll(payouts, (work) => temporal.signalPayout(work), log));
  await markPayoutsStarted(
    db,
    payouts.filter(({ id }) => told.has(id)),
    new Date(),
  );
  await markReversalsStarted(db, await startAll(reversals, (work) => temporal.startReversal(work), log), new Date());
  const begun = new Set(await startAll(deliveries, (work) => temporal.startDelivery(work), log));
  await markDeliveriesStarted(
    db,
    deliveries.filter(({ id }) => begun.has(id)),
    new Date(),
  );
  return collections.length + payouts.length + reversals.length + deliveries.length;
}

/** The ids of those that were started. One that cannot be must not keep the others from it. */
async function startAll<Work extends { id: string }>(
  works: readonly Work[],
  start: (work: Work) => Promise<boolean>,
  log: Log,
): Promise<Work['id'][]> {
  const started = await Promise.all(
    works.map(async (work) => {
      try {
        return (await start(work)) ? work.id : null;
      } catch (error) {
        log.error({ error, id: work.id }, 'a workflow could not be started');
        return null;
      }
    }),
  );
  return started.filter((id) => id !== null);
}

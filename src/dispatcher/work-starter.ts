// Starts workflows for recorded work. Two callers, one function: the API right after it recorded, and the dispatcher.
import type { CollectionToStart, DeliveryToStart, TemporalClient } from '../clients/temporal-client.ts';
import type { Database } from '../db/database.ts';
import type { Collection, CollectionState } from '../domain/collection.ts';
import { isSettled } from '../domain/collection-progress.ts';
import type { Log } from '../log.ts';
import { listUnstartedCollections, listUnstartedDeliveries } from '../operations/list-unstarted-work.ts';
import { markCollectionsStarted, markDeliveriesStarted } from '../operations/mark-work-started.ts';

export type WorkStarter = {
  /**
   * Starts the collection's workflow without making anyone wait. Over the bound of starts under way, or with Temporal
   * away, nothing happens: the row stays recorded and not started, and the dispatcher finds it.
   */
  offerCollection(collection: CollectionToStart): void;
  /**
   * Tells the collection's workflow that the operator called back; if none is open and an outcome may still come, starts
   * one that looks. Over the bound nothing happens: the next poll finds what the callback meant.
   */
  tellOperatorCalledBack(collection: Collection): void;
  /** Starts what is recorded and not started; resolves to how many starts it tried. */
  startRecorded(): Promise<number>;
  drain(): Promise<void>;
};

export type WorkStarterOptions = {
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly maxUnderWay: number;
  readonly batchSize: number;
  /** Work younger than this is being started by who recorded it. */
  readonly startGraceMs: number;
  readonly log: Log;
};

export function createWorkStarter(options: WorkStarterOptions): WorkStarter {
  const { db, temporal, log } = options;
  const underWay = new Set<Promise<void>>();

  function track(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) => {
        log.error({ error }, 'a workflow could not be started');
      })
      .then(() => {
        underWay.delete(tracked);
      });
    underWay.add(tracked);
  }

  async function tell(collection: Collection): Promise<void> {
    const answer = await temporal.tellOperatorCalledBack(collection);
    if (answer === 'closed') await temporal.startCollection(collection);
  }

  async function startAll<Work extends { id: string }>(
    works: readonly Work[],
    start: (work: Work) => Promise<boolean>,
  ): Promise<Work['id'][]> {
    const started = await Promise.all(
      works.map(async (work) => {
        try {
          return (await start(work)) ? work.id : null;
        } catch (error) {
          // One that cannot be started must not keep the others from it.
          log.error({ error, id: work.id }, 'a workflow could not be started');
          return null;
        }
      }),
    );
    return started.filter((id) => id !== null);
  }

  return {
    offerCollection(collection) {
      if (!temporal.isConnected() || underWay.size >= options.maxUnderWay) return;
      track(temporal.startCollection(collection));
    },

    tellOperatorCalledBack(collection) {
      if (!temporal.isConnected() || underWay.size >= options.maxUnderWay) return;
      if (!mayStillChange(collection.state)) return;
      track(tell(collection));
    },

    async startRecorded() {
      if (!temporal.isConnected()) return 0;
      const recordedBefore = new Date(Date.now() - options.startGraceMs);
      const collections = await listUnstartedCollections(db, recordedBefore, options.batchSize);
      const deliveries: DeliveryToStart[] = await listUnstartedDeliveries(db, options.batchSize);
      const startedCollections = await startAll(collections, (work) => temporal.startCollection(work));
      await markCollectionsStarted(db, startedCollections, new Date());
      const startedDeliveries = await startAll(deliveries, (work) => temporal.startDelivery(work));
      await markDeliveriesStarted(db, startedDeliveries, new Date());
      return startedCollections.length + startedDeliveries.length;
    },

    async drain() {
      await Promise.all(underWay);
    },
  };
}

// An expired collection may turn out to be paid; the other settled ones have had their last word.
function mayStillChange(state: CollectionState): boolean {
  return state === 'expired' || !isSettled(state);
}

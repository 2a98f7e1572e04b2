// Starts workflows for recorded work. Two callers, one function: the API right after it recorded, and the dispatcher.
import type { TemporalClient } from '../clients/temporal-client.ts';
import type { CollectionToStart, PayoutToStart, ReversalToStart } from '../clients/workflow-starts.ts';
import type { Database } from '../db/database.ts';
import { COLLECTION_TRANSITIONS } from '../domain/collection.ts';
import { PAYOUT_TRANSITIONS } from '../domain/payout.ts';
import type { Log } from '../log.ts';
import {
  listUnstartedCollections,
  listUnstartedDeliveries,
  listUnstartedPayouts,
  listUnstartedReversals,
} from '../operations/list-unstarted-work.ts';
import {
  markCollectionsStarted,
  markDeliveriesStarted,
  markPayoutsStarted,
  markReversalsStarted,
} from '../operations/mark-work-started.ts';
import type { CalledBackWork } from '../operations/record-operator-callback.ts';

export type WorkStarter = {
  /**
   * Starts the collection's workflow without making anyone wait. Over the bound of starts under way, or with Temporal
   * away, nothing happens: the row stays recorded and not started, and the dispatcher finds it.
   */
  offerCollection(collection: CollectionToStart): void;
  /** The same for a payout that was recorded or decided on. */
  offerPayout(payout: PayoutToStart): void;
  offerReversal(reversal: ReversalToStart): void;
  /**
   * Tells the workflow that the operator called back; if none is open, starts one that looks. Over the bound nothing
   * happens: the next poll finds what the callback meant.
   */
  tellOperatorCalledBack(calledBack: CalledBackWork): void;
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

  const hasRoom = () => temporal.isConnected() && underWay.size < options.maxUnderWay;

  async function tellCalledBack(calledBack: CalledBackWork): Promise<void> {
    if ((await temporal.tellOperatorCalledBack(calledBack)) !== 'closed') return;
    switch (calledBack.noun) {
      case 'collection':
        await temporal.startCollection(calledBack.work);
        return;
      case 'payout':
        await temporal.tellPayout(calledBack.work);
        return;
      case 'reversal':
        await temporal.startReversal(calledBack.work);
    }
  }

  // Unlike a collection's, whose first recorded change says so by itself, a payout's telling is noted at once: it may
  // wait for days, and must not be told over and over.
  async function tellPayout(payout: PayoutToStart): Promise<void> {
    const at = new Date();
    if (await temporal.tellPayout(payout)) await markPayoutsStarted(db, [payout.id], at);
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
      if (hasRoom()) track(temporal.startCollection(collection));
    },

    offerPayout(payout) {
      if (hasRoom()) track(tellPayout(payout));
    },

    offerReversal(reversal) {
      if (hasRoom()) track(temporal.startReversal(reversal));
    },

    tellOperatorCalledBack(calledBack) {
      if (hasRoom() && mayStillChange(calledBack)) track(tellCalledBack(calledBack));
    },

    async startRecorded() {
      if (!temporal.isConnected()) return 0;
      const at = new Date();
      const before = new Date(at.getTime() - options.startGraceMs);
      const limit = options.batchSize;
      const collections = await listUnstartedCollections(db, before, limit);
      const payouts = await listUnstartedPayouts(db, before, limit);
      const reversals = await listUnstartedReversals(db, before, limit);
      const deliveries = await listUnstartedDeliveries(db, limit);
      await markCollectionsStarted(db, await startAll(collections, temporal.startCollection), new Date());
      await markPayoutsStarted(db, await startAll(payouts, temporal.tellPayout), at);
      await markReversalsStarted(db, await startAll(reversals, temporal.startReversal), new Date());
      await markDeliveriesStarted(db, await startAll(deliveries, temporal.startDelivery), new Date());
      return collections.length + payouts.length + reversals.length + deliveries.length;
    },

    async drain() {
      await Promise.all(underWay);
    },
  };
}

// What has had its last word is not asked about again, however often somebody calls.
function mayStillChange({ noun, work }: CalledBackWork): boolean {
  switch (noun) {
    case 'collection':
      return Object.keys(COLLECTION_TRANSITIONS[work.state]).length > 0;
    case 'payout':
      return Object.keys(PAYOUT_TRANSITIONS[work.state]).length > 0;
    case 'reversal':
      return work.state === 'requested' || work.state === 'reconciling';
  }
}

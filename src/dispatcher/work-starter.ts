// Starts workflows for recorded work. Two callers, one function: the API right after it recorded, and the dispatcher.
import type { TemporalClient } from '../temporal/client.ts';
import type { CollectionToStart, PayoutToStart, ReversalToStart } from '../temporal/workflow-starts.ts';
import { COLLECTION_TRANSITIONS } from '../domain/payments/collection.ts';
import { PAYOUT_TRANSITIONS } from '../domain/payments/payout.ts';
import { markPayoutsStarted, type SignalledPayout } from '../operations/payments/mark-work-started.ts';
import type { CalledBackWork } from '../operations/payments/record-operator-callback.ts';
import { startRecordedWork, type RecordedWorkOptions } from './recorded-work.ts';

export type WorkStarter = {
  /**
   * Starts the collection's workflow without making anyone wait. Over the bound of starts under way, or with Temporal
   * away, nothing happens: the row stays recorded and not started, and the dispatcher finds it.
   */
  offerCollection(collection: CollectionToStart): void;
  /** The same for a payout that was recorded or decided on. */
  offerPayout(payout: PayoutToStart & SignalledPayout): void;
  offerReversal(reversal: ReversalToStart): void;
  /**
   * Tells the workflow that the operator called back; if none is open, starts one that looks. Over the bound nothing
   * happens: the next poll finds what the callback meant.
   */
  signalOperatorCalledBack(calledBack: CalledBackWork): void;
  /** Starts what is recorded and not started; resolves to how many starts it tried. */
  startRecorded(): Promise<number>;
  drain(): Promise<void>;
};

export type WorkStarterOptions = RecordedWorkOptions & {
  readonly maxUnderWay: number;
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

  // Unlike a collection's, whose first recorded change says so by itself, a payout's telling is noted at once: it may
  // wait for days, and must not be told over and over.
  async function signalPayout(payout: PayoutToStart & SignalledPayout): Promise<void> {
    if (await temporal.signalPayout(payout)) await markPayoutsStarted(db, [payout], new Date());
  }

  return {
    offerCollection(collection) {
      if (hasRoom()) track(temporal.startCollection(collection));
    },

    offerPayout(payout) {
      if (hasRoom()) track(signalPayout(payout));
    },

    offerReversal(reversal) {
      if (hasRoom()) track(temporal.startReversal(reversal));
    },

    signalOperatorCalledBack(calledBack) {
      if (hasRoom() && mayStillChange(calledBack)) track(signalCalledBack(temporal, calledBack));
    },

    startRecorded: () => startRecordedWork(options),

    async drain() {
      await Promise.all(underWay);
    },
  };
}

// What has had its last word is not asked about again at once, however often somebody calls. Where the operator could yet
// contradict it, the sweep asks, once for any number of callbacks.
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

async function signalCalledBack(temporal: TemporalClient, calledBack: CalledBackWork): Promise<void> {
  if ((await temporal.signalOperatorCalledBack(calledBack)) !== 'closed') return;
  switch (calledBack.noun) {
    case 'collection':
      await temporal.startCollection(calledBack.work);
      return;
    case 'payout':
      await temporal.signalPayout(calledBack.work);
      return;
    case 'reversal':
      await temporal.startReversal(calledBack.work);
  }
}

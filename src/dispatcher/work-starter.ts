// Starts workflows for recorded work. Two callers, one function: the API right after it recorded, and the dispatcher.
import { markStarted } from '../db/work/work.ts';
import { COLLECTION_TRANSITIONS } from '../domain/payments/collection.ts';
import { PAYOUT_TRANSITIONS } from '../domain/payments/payout.ts';
import { REVERSAL_TRANSITIONS } from '../domain/payments/reversal.ts';
import { firstCheckMs, type PaymentWork } from '../domain/work.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { createBatcher } from '../db/platform/batcher.ts';
import { createRecordedWork, type RecordedWorkOptions } from './recorded-work.ts';

export type WorkStarter = {
  /**
   * Starts the payment's workflow, or signals it of a decision, without making the caller wait. Over the limit of starts in
   * flight, or with Temporal away, nothing happens: the row stays unstarted, and the dispatcher finds it.
   */
  offer(payment: PaymentWork): void;
  /**
   * Signals the payment's workflow that the operator called back; if none is open, starts one that queries the operator. Over
   * the limit nothing happens: the next poll finds what the callback meant.
   */
  offerCallback(payment: PaymentWork): void;
  /** Starts what is recorded and unstarted; resolves to how many starts reached Temporal. */
  startRecorded(): Promise<number>;
  /** Whether there is more to start than can be started now. */
  isBehind(): boolean;
  drain(): Promise<void>;
};

export type WorkStarterOptions = RecordedWorkOptions & {
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'ping' | 'start' | 'signalCallback'>;
  readonly maxInFlight: number;
};

// Most payments have moved on within this time, which marks them as started; the rest are marked together, in one
// statement. So the dispatcher does not start again what only waits for its turn in the engine.
const MARK_PAUSE_MS = 1000;
const MAX_MARK_BATCH = 500;

export function createWorkStarter(options: WorkStarterOptions): WorkStarter {
  const { temporal, log } = options;
  const inFlight = new Set<Promise<void>>();
  const recordedWork = createRecordedWork(options);
  const starts = createBatcher<PaymentWork>({
    maxItems: MAX_MARK_BATCH,
    pauseMs: Math.min(MARK_PAUSE_MS, options.startGraceMs / 2),
    handle: (started) => markAllStarted(started, options),
  });

  function track(start: () => Promise<unknown>): void {
    if (!temporal.isConnected() || inFlight.size >= options.maxInFlight) return;
    const tracked = start()
      .catch((error: unknown) => {
        log.error({ error }, 'a workflow could not be started');
      })
      .then(() => {
        inFlight.delete(tracked);
      });
    inFlight.add(tracked);
  }

  async function start(payment: PaymentWork): Promise<void> {
    if ((await temporal.start(payment)) === 'away') return;
    recordedWork.noteStarted(payment.kind);
    // Not awaited: what is started takes no place among the starts in flight.
    starts.add(payment).catch((error: unknown) => {
      log.warn({ error, id: payment.id }, 'a start could not be recorded; the dispatcher repeats it');
    });
  }

  async function signalCallback(payment: PaymentWork): Promise<void> {
    if ((await temporal.signalCallback(payment)) === 'closed') await temporal.start(payment);
  }

  return {
    offer(payment) {
      track(() => start(payment));
    },
    offerCallback(payment) {
      if (mayStillChange(payment)) track(() => signalCallback(payment));
    },
    startRecorded: () => recordedWork.start(),
    isBehind: () => recordedWork.isBehind(),
    async drain() {
      await Promise.all(inFlight);
      await starts.drain();
    },
  };
}

async function markAllStarted(started: readonly PaymentWork[], { db, clocks }: RecordedWorkOptions): Promise<void> {
  const at = new Date();
  // A payment that was just recorded is due as of that change, unless it changed or was claimed since.
  await markStarted(
    db,
    started.map((work) => ({ id: work.id, dueAt: work.updatedAt, checkInMs: firstCheckMs(work, at, clocks) })),
  );
}

// A payment that no transition leaves is not queried at each callback. Where the operator could yet contradict its outcome the
// dispatcher rechecks it, once for any number of callbacks.
function mayStillChange(payment: PaymentWork): boolean {
  switch (payment.kind) {
    case 'collection':
      return Object.keys(COLLECTION_TRANSITIONS[payment.state]).length > 0;
    case 'payout':
      return Object.keys(PAYOUT_TRANSITIONS[payment.state]).length > 0;
    case 'reversal':
      return Object.keys(REVERSAL_TRANSITIONS[payment.state]).length > 0;
  }
}

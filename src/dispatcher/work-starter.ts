// Starts workflows for recorded work. Two callers, one function: the API after it recorded, and the dispatcher.
import { markStarted } from '../db/work/work.ts';
import { scheduleQuery } from '../db/payments/payment-progress.ts';
import { isFinal } from '../domain/payments/payment.ts';
import { firstCheckMs, type PaymentWork } from '../domain/work.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { createBatcher } from '../db/platform/batcher.ts';
import { createRecordedWork, type RecordedWorkOptions } from './recorded-work.ts';

export type WorkStarter = {
  /**
   * Starts the payment's workflow, or signals a change to it, without making the caller wait. Has no effect over the
   * limit of starts in flight, or without Temporal: the row stays unstarted, and the dispatcher finds it.
   */
  offer(payment: PaymentWork): void;
  /**
   * Signals the workflow of a pending payment that the operator called back; if none is open, makes a status query due.
   * Has no effect over the limit: the next scheduled query finds the same.
   */
  offerCallback(payment: PaymentWork): void;
  /** Starts recorded and unstarted work; resolves to how many starts reached Temporal. */
  startRecorded(): Promise<number>;
  /** Whether there is more to start than can be started now. */
  isBehind(): boolean;
  drain(): Promise<void>;
};

export type WorkStarterOptions = RecordedWorkOptions & {
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'ping' | 'start' | 'signalCallback'>;
  readonly maxInFlight: number;
};

// Most payments move on within this time, which marks them as started; one statement marks the rest together. So the
// dispatcher does not start again what only waits for its turn in Temporal.
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
    // Not awaited: started work takes no place among the starts in flight.
    starts.add(payment).catch((error: unknown) => {
      log.warn({ error, id: payment.id }, 'a start could not be recorded; the dispatcher repeats it');
    });
  }

  async function signalCallback(payment: PaymentWork): Promise<void> {
    // Its workflow ended after the payment was read, or was lost.
    if ((await temporal.signalCallback(payment)) === 'closed') await scheduleQuery(options.db, payment, new Date());
  }

  return {
    offer(payment) {
      track(() => start(payment));
    },
    offerCallback(payment) {
      if (!isFinal(payment.state)) track(() => signalCallback(payment));
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
  // A newly recorded payment is due as of that change, unless it changed or was claimed since.
  await markStarted(
    db,
    started.map((work) => ({ id: work.id, dueAt: work.updatedAt, checkInMs: firstCheckMs(work, at, clocks) })),
  );
}

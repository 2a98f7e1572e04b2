// Starts workflows for recorded work. Two callers, one function: the API right after it recorded, and the dispatcher.
import { markStarted } from '../db/work.ts';
import { COLLECTION_TRANSITIONS } from '../domain/payments/collection.ts';
import { PAYOUT_TRANSITIONS } from '../domain/payments/payout.ts';
import { REVERSAL_TRANSITIONS } from '../domain/payments/reversal.ts';
import type { PaymentWork } from '../domain/work.ts';
import { startRecordedWork, type RecordedWorkOptions } from './recorded-work.ts';

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
  /** Starts what is recorded and unstarted; resolves to how many starts it tried. */
  startRecorded(): Promise<number>;
  drain(): Promise<void>;
};

export type WorkStarterOptions = RecordedWorkOptions & {
  readonly maxInFlight: number;
};

export function createWorkStarter(options: WorkStarterOptions): WorkStarter {
  const { db, temporal, log } = options;
  const inFlight = new Set<Promise<void>>();

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
    const isStarted = await temporal.start(payment);
    // The first recorded change of a collection or reversal marks it as started. A payout may wait for days until then, and
    // must not be signalled again and again.
    if (isStarted && payment.kind === 'payout') await markStarted(db, 'payout', [payment], new Date());
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
    startRecorded: () => startRecordedWork(options),
    async drain() {
      await Promise.all(inFlight);
    },
  };
}

// A payment that no transition leaves is not queried at each callback. Where the operator could yet contradict its outcome the
// sweep rechecks it, once for any number of callbacks.
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

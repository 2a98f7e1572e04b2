// Named time-outs and retry policies for activities, each with its reason.
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PaymentClocks } from '../src/domain/clocks.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import type { AttemptTimes } from '../activities/delivery.ts';

/**
 * Our own short transactions. They repeat until the database commits them, however long that takes. Each is a compare-and-set, so a repeat changes nothing. Short waits take place within the
 * workflow task and longer ones in a timer of the server, so that a transaction that cannot commit blocks no worker
 * slot.
 */
export const OWN_TRANSACTION: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '30s' },
  localRetryThreshold: '5s',
};

/**
 * Sending a payment repeats until its deadline: the operator knows the payment by its reference and accepts it once.
 * The deadline in the row decides; this one ends the tries of one run, so that no prompt is raised after it.
 */
export function sendingPayment(kind: PaymentKind, clocks: PaymentClocks): ActivityOptions {
  const deadlineMs = kind === 'collection' ? clocks.promptDeadlineMs : clocks.payoutSendDeadlineMs;
  return {
    startToCloseTimeout: operatorCallMs(clocks),
    scheduleToCloseTimeout: deadlineMs + operatorCallMs(clocks),
    retry: {
      initialInterval: clocks.promptRetryMs,
      backoffCoefficient: 2,
      maximumInterval: clocks.promptRetryMaxMs,
    },
  };
}

/**
 * The first try to raise a collection's prompt, as the first step of its run: one try. Its own durations limit it, which the run does not
 * have yet: this only ends a try that hangs. Further tries follow as an ordinary activity.
 */
export const SENDING_AT_ONCE: LocalActivityOptions = {
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 1 },
};

/**
 * One status query, and the record of what follows from it. It repeats until the database commits that, each time with a new query;
 * the queries by schedule ask an operator that did not answer.
 */
export function queryingStatus(clocks: PaymentClocks): ActivityOptions {
  return {
    startToCloseTimeout: operatorCallMs(clocks),
    retry: { initialInterval: clocks.minimumQueryGapMs, backoffCoefficient: 2, maximumInterval: '30s' },
  };
}

/** A status query within a workflow task: short, tried once, and harmless if it fails, as a normal query follows. */
export const QUICK_STATUS_QUERY: LocalActivityOptions = {
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 1 },
};

/** The name of a payee: worth some tries while the payout waits for people, and nothing waits for it. */
export function queryingPayeeName(clocks: PaymentClocks): ActivityOptions {
  return {
    startToCloseTimeout: operatorCallMs(clocks),
    scheduleToCloseTimeout: '1 hour',
    retry: { initialInterval: '2s', backoffCoefficient: 4, maximumInterval: '10 minutes' },
  };
}

// The operator HTTP client ends its own calls first, with a reason; a second is for the grant of the call.
function operatorCallMs({ operatorTimeoutMs }: PaymentClocks): number {
  return operatorTimeoutMs + 2000;
}

/**
 * All further attempts of a delivery are tries of one activity: it fails with the schedule's own next delay, so this
 * policy applies only when a worker died in the middle. The schedule bounds the attempts; this bounds their time.
 */
export function sendingDelivery({ attemptTimeoutMs }: AttemptTimes): ActivityOptions {
  return {
    // The webhook sender ends its own attempts first; the rest of the time is for recording.
    startToCloseTimeout: attemptTimeoutMs + 5000,
    scheduleToCloseTimeout: '14 days',
    retry: { initialInterval: '1s', backoffCoefficient: 1 },
  };
}

/**
 * Activities that read many rows send heartbeats (activities/heartbeats.ts). Without one for so long their worker is dead or
 * stopped, and another takes over.
 */
const HEARTBEAT_TIMEOUT = '20s';

/** Housekeeping works in batches, each of seconds; the next scheduled run is its real retry. */
export const HOUSEKEEPING: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '2 minutes',
  // A process that is stopped and not dead may still be given a few tries.
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 8 },
};

/** For reading every payment, as the first check does; if its worker stops in the middle, another worker continues where it was. */
export const LEDGER_CHECK: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '1 hour',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
};

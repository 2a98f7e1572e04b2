// Named timeouts and retry policies for activities, each with its reason.
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { PaymentClocks } from '../src/domain/clocks.ts';
import type { PaymentKind } from '../src/domain/payments/payment.ts';
import type { AttemptTimes } from '../activities/delivery.ts';

/**
 * Our own short transactions. They repeat until the database commits them, however long that takes. Each is a compare-and-set, so a repeat
 * changes nothing. Short waits take place within the workflow task, and longer waits in a timer of the server, so that a transaction that
 * cannot commit blocks no worker slot.
 */
export const OWN_TRANSACTION: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '30s' },
  localRetryThreshold: '5s',
};

/**
 * Sending a payment repeats until its deadline: the operator knows the payment by its reference and accepts it once. The deadline in the
 * row decides; the deadline here ends the tries of one run, so that no prompt is raised afterwards.
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
 * The first try to raise a collection's prompt, as the first step of its run: one try. The activity's own durations limit the try, but the
 * run has not loaded them: this timeout only ends a try that hangs. Further tries follow as an ordinary activity.
 */
export const SENDING_AT_ONCE: LocalActivityOptions = {
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 1 },
};

/**
 * One status query, and the record of its consequences. The activity repeats until the database commits the record, each time with a new
 * query. If the operator does not answer, the queries by schedule follow.
 */
export function queryingStatus(clocks: PaymentClocks): ActivityOptions {
  return {
    startToCloseTimeout: operatorCallMs(clocks),
    retry: { initialInterval: clocks.minimumQueryGapMs, backoffCoefficient: 2, maximumInterval: '30s' },
  };
}

/** A status query within a workflow task: short, tried once, and harmless if it fails, because a normal query follows. */
export const QUICK_STATUS_QUERY: LocalActivityOptions = {
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 1 },
};

/** A query for the name of a payee: worth some tries while the payout waits for people, and nothing waits for the name. */
export function queryingPayeeName(clocks: PaymentClocks): ActivityOptions {
  return {
    startToCloseTimeout: operatorCallMs(clocks),
    scheduleToCloseTimeout: '1 hour',
    retry: { initialInterval: '2s', backoffCoefficient: 4, maximumInterval: '10 minutes' },
  };
}

// The operator HTTP client ends its own calls first, with a reason; one second is for the grant of the call.
function operatorCallMs({ operatorTimeoutMs }: PaymentClocks): number {
  return operatorTimeoutMs + 2000;
}

/**
 * All further attempts of a delivery are tries of one activity. The activity fails with the schedule's own next delay, so this policy
 * applies only if a worker died during a try. The schedule limits the attempts; this policy limits their time.
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
 * Activities that read many rows send heartbeats (activities/heartbeats.ts). A worker without a heartbeat for this time is dead or stopped,
 * and another worker takes over.
 */
const HEARTBEAT_TIMEOUT = '20s';

/** Housekeeping works in batches of seconds; the next scheduled run is its real retry. */
export const HOUSEKEEPING: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '2 minutes',
  // A stopped process that is not dead may still receive a few tries.
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumAttempts: 8 },
};

/** A check that may read every payment, as the first check does; if its worker stops, another worker continues from the same place. */
export const LEDGER_CHECK: ActivityOptions = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  startToCloseTimeout: '1 hour',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute', maximumAttempts: 20 },
};

// Named time-outs and retry policies of activities, each with its reason.
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { CollectionTimings, DeliveryWorkflowInput, PayoutTimings } from './contract.ts';

/**
 * Our own short transactions. They repeat until the database takes them: what an operator confirmed must be recorded
 * however long that takes. Each is a compare-and-set, so a repeat changes nothing. Short waits are spent within the
 * workflow task; longer ones by a timer of the server, so that what cannot be recorded holds no slot of a worker.
 */
export const OWN_TRANSACTION: LocalActivityOptions = {
  startToCloseTimeout: '15s',
  retry: { initialInterval: '250ms', backoffCoefficient: 2, maximumInterval: '30s' },
  localRetryThreshold: '5s',
};

/**
 * Raising a prompt repeats within the prompt deadline; the operator knows the payment by its reference and takes it
 * once. After the deadline nobody's phone may ring, so the policy ends with it.
 */
export function raisingPrompt(timings: CollectionTimings): ActivityOptions {
  return {
    startToCloseTimeout: timings.operatorCallMs,
    scheduleToCloseTimeout: timings.promptDeadlineMs + timings.operatorCallMs,
    retry: {
      initialInterval: timings.promptRetryMs,
      backoffCoefficient: 2,
      maximumInterval: timings.promptRetryMaxMs,
    },
  };
}

/**
 * Sending a payout or a refund repeats until its deadline; the operator knows it by its reference and pays it once. The deadline in
 * the row decides; this only ends the tries of one run.
 */
export function sendingMoney(timings: PayoutTimings): ActivityOptions {
  return {
    startToCloseTimeout: timings.operatorCallMs,
    scheduleToCloseTimeout: timings.sendDeadlineMs + timings.operatorCallMs,
    retry: {
      initialInterval: timings.sendRetryMs,
      backoffCoefficient: 2,
      maximumInterval: timings.sendRetryMaxMs,
    },
  };
}

type PendingQuery = Pick<CollectionTimings, 'operatorCallMs' | 'minimumQueryGapMs'>;

/** One question. An operator that does not answer is asked again at the next poll; only a lost worker is retried here. */
export function queryingOperator(timings: PendingQuery): ActivityOptions {
  return {
    startToCloseTimeout: timings.operatorCallMs,
    retry: { initialInterval: timings.minimumQueryGapMs, backoffCoefficient: 2, maximumAttempts: 3 },
  };
}

/** A question within a workflow task: short, once, and no harm if it fails, as it is then asked the other way. */
export const QUICK_STATUS_QUERY: LocalActivityOptions = {
  startToCloseTimeout: '2s',
  retry: { maximumAttempts: 1 },
};

/**
 * All further attempts of a delivery are tries of one activity: it fails with the schedule's own next delay, so the
 * policy counts only when a worker died in the middle. The attempts are bounded by the schedule; this bounds their time.
 */
export function sendingDelivery(input: DeliveryWorkflowInput): ActivityOptions {
  return {
    startToCloseTimeout: input.attemptMs,
    scheduleToCloseTimeout: '14 days',
    retry: { initialInterval: input.crashRetryMs, backoffCoefficient: 1 },
  };
}

/** Housekeeping: questions over many rows that may take a while; the next scheduled run is the real retry. */
export const HOUSEKEEPING: ActivityOptions = {
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 3 },
};

/** Every payment there ever was is read; a worker that stops in the middle leaves it to another. */
export const WHOLE_LEDGER: ActivityOptions = {
  startToCloseTimeout: '1 hour',
  retry: { initialInterval: '1 minute', backoffCoefficient: 2, maximumAttempts: 5 },
};

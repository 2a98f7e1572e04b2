// Every duration by name, in two sets: the real one, and the demonstration's, in which nothing takes longer than minutes.
import { DELIVERY_SCHEDULE_MS } from './webhooks/delivery.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** All in milliseconds. A list is a schedule: the waits in order. */
export type Clocks = {
  /** From the request: after it nobody's phone may ring any more. */
  readonly promptDeadlineMs: number;
  /** How long a prompt lives at the operator. */
  readonly promptWindowMs: number;
  readonly promptRetryMs: number;
  readonly promptRetryMaxMs: number;
  /** Between questions to the operator while the payer decides; the last one repeats. */
  readonly pollScheduleMs: readonly number[];
  /** The same while the outcome is overdue. */
  readonly reconcileScheduleMs: readonly number[];
  readonly reconcileForMs: number;
  /** How long after the prompt deadline a send may still be on its way: longer than one call to the operator. */
  readonly notFoundGraceMs: number;
  readonly minimumQueryGapMs: number;
  readonly operatorTimeoutMs: number;
  /** How long a payout waits to be released, where the merchant's policy says nothing else. */
  readonly payoutExpiryMs: number;
  /** How long after its release a payout may still be sent; then its outcome is overdue. */
  readonly payoutSendDeadlineMs: number;
  /** How late a workflow may be before the sweep starts it again. */
  readonly overdueAfterMs: number;
  readonly sweepEveryMs: number;
  /** How often the whole ledger is read and checked. */
  readonly ledgerCheckEveryMs: number;
  /** How often, and for how long, an expired collection is asked for again. */
  readonly lateCheckEveryMs: number;
  readonly lateCheckForMs: number;
  /** The wait before each delivery attempt. */
  readonly deliveryScheduleMs: readonly number[];
  readonly deliveryConnectTimeoutMs: number;
  readonly deliveryTimeoutMs: number;
  /** An endpoint of which every attempt failed for so long is disabled. */
  readonly endpointFailingLimitMs: number;
  /** How soon a workflow task of a worker that died goes to another. */
  readonly workflowTaskTimeoutMs: number;
  /** How old recorded work must be before the dispatcher starts it in place of who recorded it. */
  readonly startGraceMs: number;
};

/** Operators' windows from their documents; the rest as the contract states. */
export const REAL_CLOCKS: Clocks = {
  promptDeadlineMs: 5 * MINUTE,
  promptWindowMs: 5 * MINUTE,
  promptRetryMs: 1 * SECOND,
  promptRetryMaxMs: 30 * SECOND,
  pollScheduleMs: [15 * SECOND, 15 * SECOND, 30 * SECOND, 60 * SECOND],
  reconcileScheduleMs: [30 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 1 * HOUR],
  reconcileForMs: 3 * DAY,
  notFoundGraceMs: 1 * MINUTE,
  minimumQueryGapMs: 1 * SECOND,
  operatorTimeoutMs: 20 * SECOND,
  payoutExpiryMs: 7 * DAY,
  payoutSendDeadlineMs: 5 * MINUTE,
  overdueAfterMs: 10 * MINUTE,
  sweepEveryMs: 5 * MINUTE,
  ledgerCheckEveryMs: 1 * DAY,
  lateCheckEveryMs: 6 * HOUR,
  lateCheckForMs: 7 * DAY,
  deliveryScheduleMs: DELIVERY_SCHEDULE_MS,
  deliveryConnectTimeoutMs: 5 * SECOND,
  deliveryTimeoutMs: 10 * SECOND,
  endpointFailingLimitMs: 5 * DAY,
  workflowTaskTimeoutMs: 10 * SECOND,
  startGraceMs: 5 * SECOND,
};

export const DEMO_CLOCKS: Clocks = {
  promptDeadlineMs: 15 * SECOND,
  promptWindowMs: 8 * SECOND,
  promptRetryMs: 300,
  promptRetryMaxMs: 2 * SECOND,
  pollScheduleMs: [2 * SECOND],
  reconcileScheduleMs: [2 * SECOND],
  reconcileForMs: 25 * SECOND,
  notFoundGraceMs: 6 * SECOND,
  minimumQueryGapMs: 200,
  operatorTimeoutMs: 5 * SECOND,
  payoutExpiryMs: 15 * MINUTE,
  payoutSendDeadlineMs: 8 * SECOND,
  overdueAfterMs: 10 * SECOND,
  sweepEveryMs: 15 * SECOND,
  ledgerCheckEveryMs: 1 * MINUTE,
  lateCheckEveryMs: 20 * SECOND,
  lateCheckForMs: 5 * MINUTE,
  deliveryScheduleMs: [0, 1, 2, 2, 3, 4, 5, 6, 8, 10].map((seconds) => seconds * SECOND),
  deliveryConnectTimeoutMs: 2 * SECOND,
  deliveryTimeoutMs: 3 * SECOND,
  endpointFailingLimitMs: 10 * MINUTE,
  workflowTaskTimeoutMs: 3 * SECOND,
  startGraceMs: 2 * SECOND,
};

// Every duration of the service in one table, the source of types, settings, settings page and workflow clocks.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** In milliseconds; a list is a schedule: the waits in order. */
type Duration = {
  readonly meaning: string;
  readonly real: number | readonly number[];
  /** In the demonstration everything ends within minutes. */
  readonly demo: number | readonly number[];
};

// Operators' windows come from their documents, the rest from the contract.
export const DURATIONS = {
  promptDeadlineMs: {
    meaning: 'From the request to the last moment at which the prompt may be raised',
    real: 5 * MINUTE,
    demo: 15 * SECOND,
  },
  secondAttemptWaitMs: {
    meaning:
      'How long after an expired attempt a one-time checkout accepts no new one, so that a late payment shows first',
    real: 2 * MINUTE,
    demo: 3 * SECOND,
  },
  // A person who decides by hand finds the handset page within it.
  promptWindowMs: { meaning: 'How long a prompt stays open at the operator', real: 5 * MINUTE, demo: 3 * MINUTE },
  promptRetryMs: { meaning: 'First wait between two attempts to send a payment', real: 1 * SECOND, demo: 300 },
  promptRetryMaxMs: { meaning: 'Longest wait between two attempts', real: 30 * SECOND, demo: 2 * SECOND },
  pollScheduleMs: {
    meaning: 'Waits between status polls while the outcome is awaited; the last one repeats',
    real: [15 * SECOND, 15 * SECOND, 30 * SECOND, 60 * SECOND],
    demo: [2 * SECOND],
  },
  reconcileScheduleMs: {
    meaning: 'Waits between status polls while the outcome is overdue; the last one repeats',
    real: [30 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 1 * HOUR],
    demo: [2 * SECOND, 2 * SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND],
  },
  reconcileForMs: { meaning: 'How long an undecided collection is reconciled', real: 3 * DAY, demo: 25 * SECOND },
  notFoundGraceMs: {
    meaning: 'How long after the deadline a send may still be on its way; longer than one operator call',
    real: 1 * MINUTE,
    demo: 6 * SECOND,
  },
  notFoundGapMs: {
    meaning: 'Shortest time between two statuses “not found” of a payout or refund that both count',
    real: 30 * MINUTE,
    demo: 2 * SECOND,
  },
  notFoundSpanMs: {
    meaning: 'From the first “not found” that counts to the last, before the payout or refund counts as never accepted',
    real: 6 * HOUR,
    demo: 6 * SECOND,
  },
  minimumQueryGapMs: {
    meaning: 'Shortest time between two status queries of one payment, however many callbacks come',
    real: 200,
    demo: 200,
  },
  operatorTimeoutMs: { meaning: 'One call to an operator', real: 20 * SECOND, demo: 5 * SECOND },
  // The last wait is short enough that a backlog is sent within a minute of the operator's return.
  breakerPausesMs: {
    meaning:
      'Pauses of calls to an operator that takes none, each before one call that probes it; the last one repeats',
    real: [2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND],
    demo: [1 * SECOND, 2 * SECOND, 5 * SECOND],
  },
  floatPausesMs: {
    meaning: 'Pauses before a payout that was refused for our float is sent again; the last one repeats',
    real: [1 * MINUTE, 2 * MINUTE, 5 * MINUTE],
    demo: [2 * SECOND, 5 * SECOND],
  },
  idempotencyKeysKeptForMs: {
    meaning:
      'How long an Idempotency-Key is kept with the response to its request; the key counts for 30 days in any case',
    real: 30 * DAY,
    demo: 30 * DAY,
  },
  callbacksKeptForMs: {
    meaning: 'How long an operator’s callback is kept unchanged, with its source address',
    real: 90 * DAY,
    demo: 90 * DAY,
  },
  exchangesKeptForMs: {
    meaning: 'How long the record of each send and each query is kept, with the operator’s answer in a word',
    real: 90 * DAY,
    demo: 90 * DAY,
  },
  payeeNamesKeptForMs: {
    meaning: 'How long the name that an operator has for the payee of a payout is kept',
    real: 90 * DAY,
    demo: 90 * DAY,
  },
  sessionsKeptForMs: {
    meaning:
      'How long a session is kept after its end, 7 days from its log-in; a session that somebody ends is removed at once',
    real: 0,
    demo: 0,
  },
  recoveriesKeptForMs: {
    meaning: 'How long a recovery is kept after its end; a recovery that is used or replaced is removed at once',
    real: 0,
    demo: 0,
  },
  attemptCountersKeptForMs: {
    meaning: 'How long counts of failed attempts of an account, a person or an address are kept after their window',
    real: 0,
    demo: 0,
  },
  requestsKeptForMs: {
    meaning: 'How long the request log keeps the requests of API keys, with their source address',
    real: 30 * DAY,
    demo: 30 * DAY,
  },
  payoutExpiryMs: {
    meaning: 'How long a payout waits for its release, unless the merchant’s policy says otherwise',
    real: 7 * DAY,
    demo: 15 * MINUTE,
  },
  payoutSendDeadlineMs: {
    meaning: 'How long after its release a payout or refund may be sent, however long its operator is unavailable',
    real: 1 * DAY,
    demo: 15 * MINUTE,
  },
  payoutOverdueMs: {
    meaning: 'How long after the operator took a payout or refund its outcome is overdue',
    real: 5 * MINUTE,
    demo: 15 * SECOND,
  },
  staleAfterMs: {
    meaning: 'How long a workflow may be late before the service checks whether it runs and progresses',
    real: 10 * MINUTE,
    demo: 10 * SECOND,
  },
  sweepTimeoutMs: {
    meaning: 'How long a sweep may take before it is ended, so that the next one can run',
    real: 15 * MINUTE,
    demo: 2 * MINUTE,
  },
  ledgerCheckTimeoutMs: {
    meaning: 'How long a check of the ledger, or of the whole ledger, may take before it is ended',
    real: 6 * HOUR,
    demo: 10 * MINUTE,
  },
  sweepEveryMs: { meaning: 'Interval of the sweep', real: 5 * MINUTE, demo: 15 * SECOND },
  ledgerCheckEveryMs: {
    meaning: 'Interval of the check of changes in the ledger',
    real: 1 * HOUR,
    demo: 1 * MINUTE,
  },
  wholeLedgerCheckEveryMs: {
    meaning: 'Interval of the check of the whole ledger, which reads every entry ever written',
    real: 7 * DAY,
    demo: 5 * MINUTE,
  },
  scheduleCheckEveryMs: {
    meaning: 'How often a worker checks that the schedules of the sweep and of the ledger checks exist and run',
    real: 1 * MINUTE,
    demo: 10 * SECOND,
  },
  lateCheckAgesMs: {
    meaning: 'How long after a collection expired, or a payout or refund failed as never accepted, it is rechecked',
    real: [10 * MINUTE, 1 * HOUR, 6 * HOUR, 1 * DAY, 3 * DAY, 7 * DAY],
    demo: [10, 20, 40, 80, 160, 300].map((seconds) => seconds * SECOND),
  },
  recheckForMs: {
    meaning: 'How long a final payment is rechecked, at growing gaps, while the operator gives no usable status',
    real: 30 * DAY,
    demo: 10 * MINUTE,
  },
  returnCheckAgesMs: {
    meaning: 'How long after a payment succeeded it is rechecked, because its money may have been returned',
    real: [1 * HOUR, 1 * DAY, 7 * DAY],
    demo: [20 * SECOND, 1 * MINUTE, 3 * MINUTE],
  },
  deliveryScheduleMs: {
    meaning: 'The wait before each webhook attempt',
    // About 75 hours in all.
    real: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)],
    demo: [0, 1, 2, 2, 3, 4, 5, 6, 8, 10].map((seconds) => seconds * SECOND),
  },
  deliveryConnectTimeoutMs: { meaning: 'Connecting to an endpoint', real: 5 * SECOND, demo: 2 * SECOND },
  deliveryTimeoutMs: { meaning: 'One whole webhook attempt', real: 10 * SECOND, demo: 3 * SECOND },
  endpointFailingLimitMs: {
    meaning: 'How long an endpoint may accept no attempt before it is disabled',
    real: 5 * DAY,
    demo: 10 * MINUTE,
  },
  unreadyBeforeCloseMs: {
    meaning:
      'How long an API that stops says that it is not ready, and still serves, before it closes: load balancers notice meanwhile',
    real: 5 * SECOND,
    demo: 0,
  },
  workflowTaskTimeoutMs: {
    meaning: 'How soon a workflow task of a dead worker goes to another',
    real: 10 * SECOND,
    demo: 3 * SECOND,
  },
  startGraceMs: {
    meaning: 'How old unstarted work must be before the dispatcher starts it instead of the process that recorded it',
    real: 5 * SECOND,
    demo: 2 * SECOND,
  },
} as const satisfies Record<string, Duration>;

export type ClockName = keyof typeof DURATIONS;
export const CLOCK_NAMES = Object.keys(DURATIONS) as ClockName[];

export type Clocks = {
  readonly [Name in ClockName]: (typeof DURATIONS)[Name]['real'] extends number ? number : readonly number[];
};

export const REAL_CLOCKS: Clocks = clocksOf('real');
export const DEMO_CLOCKS: Clocks = clocksOf('demo');

function clocksOf(set: 'real' | 'demo'): Clocks {
  return Object.fromEntries(CLOCK_NAMES.map((name) => [name, DURATIONS[name][set]])) as unknown as Clocks;
}

// Work that repeats at a shorter interval would leave no time for anything else.
export const SHORTEST_DURATION_MS = 50;

/** Merchants are promised the same response to the same request for 30 days; ended records need not be kept at all. */
const LEAST_CLOCKS: Partial<Record<ClockName, number>> = {
  idempotencyKeysKeptForMs: 30 * DAY,
  sessionsKeptForMs: 0,
  recoveriesKeptForMs: 0,
  attemptCountersKeptForMs: 0,
  unreadyBeforeCloseMs: 0,
};

/** The smallest value of a setting in any environment; of a schedule, of each of its waits. */
export function leastClockMs(name: ClockName): number {
  return LEAST_CLOCKS[name] ?? SHORTEST_DURATION_MS;
}

/** The largest value: a longer one is a mistake, and no date of a database. */
export const LONGEST_DURATION_MS = 100 * 365 * DAY;

/** The close takes up to 30 seconds more, and a process that has not ended a minute after the signal counts as hung. */
const MOST_CLOCKS: Partial<Record<ClockName, number>> = { unreadyBeforeCloseMs: 15 * SECOND };

export function mostClockMs(name: ClockName): number {
  return MOST_CLOCKS[name] ?? LONGEST_DURATION_MS;
}

/** The shortest settings with real money: shorter ones give wrong outcomes. For a schedule, its last entry. */
export const LEAST_LIVE_CLOCKS = {
  promptWindowMs: { ms: 5 * MINUTE, because: 'a payer can approve for as long as the operator shows the prompt' },
  operatorTimeoutMs: {
    ms: 5 * SECOND,
    because: 'a send that is given up before it is answered may have been accepted',
  },
  notFoundGraceMs: { ms: 30 * SECOND, because: 'a send that was given up may still arrive at the operator' },
  notFoundGapMs: { ms: 10 * MINUTE, because: 'two answers of the same moment count as one answer' },
  notFoundSpanMs: {
    ms: 1 * HOUR,
    because:
      'an operator shows some payments late, and the money of one that counts as never accepted is paid out again',
  },
  reconcileForMs: { ms: 1 * DAY, because: 'operators decide some collections only after they repair their own faults' },
  lateCheckAgesMs: { ms: 1 * DAY, because: 'a payment that was declared over but was paid nevertheless must be found' },
  recheckForMs: { ms: 7 * DAY, because: 'an operator without a usable status may be unavailable for days' },
  returnCheckAgesMs: { ms: 1 * DAY, because: 'operators return money after a day' },
} as const satisfies Partial<Record<ClockName, { readonly ms: number; readonly because: string }>>;

const PAYMENT_CLOCKS = [
  'promptDeadlineMs',
  'promptRetryMs',
  'promptRetryMaxMs',
  'pollScheduleMs',
  'reconcileScheduleMs',
  'reconcileForMs',
  'notFoundGraceMs',
  'minimumQueryGapMs',
  'operatorTimeoutMs',
  'payoutSendDeadlineMs',
] as const satisfies readonly ClockName[];

export type PaymentClocks = Pick<Clocks, (typeof PAYMENT_CLOCKS)[number]>;

export function paymentClocks(clocks: Clocks): PaymentClocks {
  return Object.fromEntries(PAYMENT_CLOCKS.map((name) => [name, clocks[name]])) as unknown as PaymentClocks;
}

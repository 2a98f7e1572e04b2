// Recorded work for which workflows are started: payments of all three kinds, and deliveries owed further attempts.
import type { Clocks } from './clocks.ts';
import type { MerchantId } from './ids.ts';
import type { Collection } from './payments/collection.ts';
import { isFinal, PAYMENT_KINDS, type PaymentState } from './payments/payment.ts';
import type { Payout } from './payments/payout.ts';
import type { Reversal } from './payments/reversal.ts';
import type { ListedDelivery } from './webhooks/delivery.ts';

/** What the start of a payment's workflow needs. `updatedAt`: the time of the decision that the signal is about. */
type PaymentField = 'kind' | 'id' | 'merchantId' | 'operator' | 'state' | 'updatedAt';

export type CollectionWork = Pick<Collection, PaymentField | 'idempotencyKey'>;
export type PayoutWork = Pick<Payout, PaymentField | 'idempotencyKey' | 'expiresAt'>;
export type ReversalWork = Pick<Reversal, PaymentField | 'expiresAt'>;
export type DeliveryWork = Pick<ListedDelivery, 'id' | 'endpointId' | 'replayCount' | 'nextAttemptAt'> & {
  readonly kind: 'delivery';
  readonly merchantId: MerchantId;
};

export type PaymentWork = CollectionWork | PayoutWork | ReversalWork;

/** The work of a workflow. Any row with these fields is accepted. */
export type Work = PaymentWork | DeliveryWork;
export const WORK_KINDS = [...PAYMENT_KINDS, 'delivery'] as const satisfies readonly Work['kind'][];
export type WorkKind = (typeof WORK_KINDS)[number];

/** After this many failures in a row work is quarantined: tried hourly, no backlog, and shown to the staff. */
export const QUARANTINE_AFTER = 10;

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const JITTER = 0.2;

/**
 * The wait before the next try after this many failures in a row: a second, doubled after each failure, and an hour
 * once the work is quarantined. `random`, from 0 to 1, spreads work that failed at the same moment.
 */
export function startBackoffMs(failures: number, random = Math.random()): number {
  const waitMs = failures >= QUARANTINE_AFTER ? HOUR_MS : SECOND_MS * 2 ** (failures - 1);
  return Math.round(waitMs * (1 + JITTER * (2 * random - 1)));
}

/** Which workflows go first: those with a send ahead, then those that wait for others, then those of final payments. */
export const PRIORITY = { unsent: 0, awaited: 1, final: 2 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** Which status queries go first: those at a deadline of their payment, then other ones of pending payments. */
export const QUERY_PRIORITY = { deadline: 0, scheduled: 1, final: 2 } as const;

/** When a status is queried, unless something happens earlier. */
export type QueryDue = {
  readonly dueAt: Date;
  readonly priority: (typeof QUERY_PRIORITY)[keyof typeof QUERY_PRIORITY];
};

function priorityOf(state: PaymentState): Priority {
  if (isFinal(state)) return PRIORITY.final;
  return UNSENT_STATES.has(state) ? PRIORITY.unsent : PRIORITY.awaited;
}

/** Who records a change: the payment's workflow, or another party, after which the workflow is signalled. */
export type RecordedBy = 'workflow' | 'other';

/** The work for a payment after it changed. */
export type WorkAfter = {
  /** `isStarted`: the workflow runs and knows the change. `as_it_is`: the work of an earlier change stays. */
  readonly workflow:
    { readonly priority: Priority; readonly isStarted: boolean; readonly dueAt: Date } | 'as_it_is' | 'ended';
  /** Null: only a callback leads to a status query. */
  readonly statusQuery: QueryDue | null;
};

/**
 * The work of a payment after its change of state. A workflow that did not record the change counts as not started
 * until it is signalled. A payment that was final before has no more workflow work. `checkDueAt`: when the workflow of
 * a pending payment is checked next.
 */
export function workAfter({ before, after, checkDueAt, queryDue }: ChangedPayment, recordedBy: RecordedBy): WorkAfter {
  const work = (workflow: WorkAfter['workflow']): WorkAfter => ({ workflow, statusQuery: queryDue });
  if (isFinal(before.state)) return work('as_it_is');
  const priority = priorityOf(after.state);
  if (recordedBy === 'other') return work({ priority, isStarted: false, dueAt: after.updatedAt });
  return work(checkDueAt === null ? 'ended' : { priority, isStarted: true, dueAt: checkDueAt });
}

type ChangedPayment = {
  readonly before: Pick<PaymentWork, 'state'>;
  readonly after: Pick<PaymentWork, 'state' | 'updatedAt'>;
  readonly checkDueAt: Date | null;
  readonly queryDue: QueryDue | null;
};

/** The durations for checks of started work. */
export type CheckClocks = Pick<Clocks, 'promptDeadlineMs' | 'payoutSendDeadlineMs' | 'staleAfterMs'>;

/** How often unsent work is checked before its deadline, so that a lost run is repaired in time. */
const CHECKS_BEFORE_DEADLINE = 4;
const LONGEST_GAP_BEFORE_DEADLINE_MS = 5 * 60_000;

function checkBeforeDeadlineMs(deadlineMs: number): number {
  return Math.min(LONGEST_GAP_BEFORE_DEADLINE_MS, Math.ceil(deadlineMs / CHECKS_BEFORE_DEADLINE));
}

/** The workflow of a payment that waits for people ends it at its expiry, so the check follows a little later. */
const AFTER_EXPIRY_MS = 60_000;

/** How long after its start at `at` work is first checked. */
export function firstCheckMs(work: Work, at: Date, clocks: CheckClocks): number {
  if (work.kind === 'delivery') return until(work.nextAttemptAt ?? at, at) + clocks.staleAfterMs;
  if (work.state === 'queued') return until(work.expiresAt, at) + AFTER_EXPIRY_MS;
  if (!UNSENT_STATES.has(work.state)) return clocks.staleAfterMs;
  return checkBeforeDeadlineMs(sendDeadlineMs(work.kind, clocks));
}

const until = (time: Date, from: Date): number => Math.max(0, time.getTime() - from.getTime());

function sendDeadlineMs(kind: PaymentWork['kind'], clocks: CheckClocks): number {
  return kind === 'collection' ? clocks.promptDeadlineMs : clocks.payoutSendDeadlineMs;
}

const UNSENT_STATES: ReadonlySet<PaymentState> = new Set(['initiated', 'released']);
const LONGEST_GAP_MS = 6 * HOUR_MS;

/**
 * The next check of work whose run is in order: several before the deadline of an unsent payment, otherwise after the
 * time since its last change, so at doubling gaps.
 */
export function nextCheckMs(work: Work, unchangedForMs: number, clocks: CheckClocks): number {
  const { staleAfterMs } = clocks;
  if (work.kind === 'delivery' || work.state === 'queued') return staleAfterMs;
  const deadlineMs = sendDeadlineMs(work.kind, clocks);
  if (UNSENT_STATES.has(work.state) && unchangedForMs < deadlineMs) return checkBeforeDeadlineMs(deadlineMs);
  return Math.min(LONGEST_GAP_MS, Math.max(staleAfterMs, unchangedForMs));
}

export type OpenRun = {
  readonly runId: string;
  /** Tries of the pending workflow task, with this one; 0 without one. A task that waits for a worker stays at 1. */
  readonly taskAttempt: number;
  /** The time of the last event of a run that waits only for timers and signals; null for any other run. */
  readonly quietSince: Date | null;
};

export type StuckReason = 'workflow_task_fails' | 'no_progress';

/** One failed or timed-out try may be that of a worker that died. */
const FAILING_TASK_ATTEMPT = 3;

/**
 * Why the run cannot progress, or null if it may progress. The run of a sent payment waits for signals, however long;
 * the run of a payment that waits for people waits until its expiry.
 */
export function stuckReason(run: OpenRun, work: Work, at: Date, clocks: CheckClocks): StuckReason | null {
  if (run.taskAttempt >= FAILING_TASK_ATTEMPT) return 'workflow_task_fails';
  if (run.quietSince === null || !hasNextStep(work, at)) return null;
  return at.getTime() - run.quietSince.getTime() > clocks.staleAfterMs ? 'no_progress' : null;
}

function hasNextStep(work: Work, at: Date): boolean {
  if (work.kind === 'delivery') return true;
  return (
    UNSENT_STATES.has(work.state) || (work.kind !== 'collection' && work.state === 'queued' && work.expiresAt < at)
  );
}

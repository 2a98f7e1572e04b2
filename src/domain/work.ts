// Recorded work that workflows are started for: payments of all three kinds, and deliveries that are owed further attempts.
import type { Clocks } from './clocks.ts';
import type { MerchantId } from './ids.ts';
import type { Collection } from './payments/collection.ts';
import { isFinal, PAYMENT_KINDS, type PaymentState } from './payments/payment.ts';
import type { Payout } from './payments/payout.ts';
import type { Reversal } from './payments/reversal.ts';
import type { ListedDelivery } from './webhooks/delivery.ts';

/** Of a payment, as far as its workflow's start needs it. `updatedAt`: as of the decision that the workflow of money out is signalled of. */
type PaymentField = 'kind' | 'id' | 'merchantId' | 'operator' | 'state' | 'updatedAt';

export type CollectionWork = Pick<Collection, PaymentField | 'idempotencyKey'>;
export type PayoutWork = Pick<Payout, PaymentField | 'idempotencyKey' | 'expiresAt'>;
export type ReversalWork = Pick<Reversal, PaymentField | 'expiresAt'>;
export type DeliveryWork = Pick<ListedDelivery, 'id' | 'endpointId' | 'replayCount' | 'nextAttemptAt'> & {
  readonly kind: 'delivery';
  readonly merchantId: MerchantId;
};

export type PaymentWork = CollectionWork | PayoutWork | ReversalWork;

/** What a workflow is started for. Any row that has these fields will do. */
export type Work = PaymentWork | DeliveryWork;
export const WORK_KINDS = [...PAYMENT_KINDS, 'delivery'] as const satisfies readonly Work['kind'][];
export type WorkKind = (typeof WORK_KINDS)[number];

/** After so many failures in a row work is quarantined: tried hourly, no backlog, and shown to the staff. */
export const QUARANTINE_AFTER = 10;

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const JITTER = 0.2;

/**
 * How long to wait before the next try, after this many failures in a row: a second, then twice as long after each, and an
 * hour once the work is quarantined. `random` is from 0 to 1: it spreads work that failed at the same moment.
 */
export function startBackoffMs(failures: number, random = Math.random()): number {
  const waitMs = failures >= QUARANTINE_AFTER ? HOUR_MS : SECOND_MS * 2 ** (failures - 1);
  return Math.round(waitMs * (1 + JITTER * (2 * random - 1)));
}

/** Which workflows go first: those with something to send, then those that wait for others, then those of final payments. */
export const PRIORITY = { unsent: 0, awaited: 1, final: 2 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** Which status queries go first: those at a deadline of their payment, then the other ones of pending payments. */
export const QUERY_PRIORITY = { deadline: 0, scheduled: 1, final: 2 } as const;

/** When a status is queried, unless something happens before. */
export type QueryDue = {
  readonly dueAt: Date;
  readonly priority: (typeof QUERY_PRIORITY)[keyof typeof QUERY_PRIORITY];
};

function priorityOf(state: PaymentState): Priority {
  if (isFinal(state)) return PRIORITY.final;
  return UNSENT_STATES.has(state) ? PRIORITY.unsent : PRIORITY.awaited;
}

/** Who records a change: the payment's workflow, which knows of it then, or anybody else, of whose change it is signalled. */
export type RecordedBy = 'workflow' | 'other';

/** What is to be done for a payment after it changed. */
export type WorkAfter = {
  /** `isStarted`: the workflow runs and knows of the change. `as_it_is`: it concerns an earlier change. */
  readonly workflow:
    { readonly priority: Priority; readonly isStarted: boolean; readonly dueAt: Date } | 'as_it_is' | 'ended';
  /** Null: the operator is asked after a callback only. */
  readonly statusQuery: QueryDue | null;
};

/**
 * The work of a payment after its change of state. A workflow that did not record the change itself counts as not started until it is
 * signalled; that of a payment that was final before has nothing more to do. `checkDueAt`: when the workflow of a pending payment is
 * checked next.
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

/** What the checks of started work go by. */
export type CheckClocks = Pick<Clocks, 'promptDeadlineMs' | 'payoutSendDeadlineMs' | 'staleAfterMs'>;

/** What is still to be sent is checked so often before its deadline, so that a lost run is repaired in time and soon. */
const CHECKS_BEFORE_DEADLINE = 4;
const LONGEST_GAP_BEFORE_DEADLINE_MS = 5 * 60_000;

function checkBeforeDeadlineMs(deadlineMs: number): number {
  return Math.min(LONGEST_GAP_BEFORE_DEADLINE_MS, Math.ceil(deadlineMs / CHECKS_BEFORE_DEADLINE));
}

/** The workflow of a payment that waits for people ends it at its expiry by itself, so it is checked a little later. */
const AFTER_EXPIRY_MS = 60_000;

/** How long after its start at `at` work is checked for the first time. */
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
 * When work whose run is in order is checked next: often before the deadline of what is still to be sent, and then after
 * the time that has passed since its last change, so at gaps that double.
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
  /** Tries of the pending workflow task, this one included; 0 without one. A task that waits for a worker stays at 1. */
  readonly taskAttempt: number;
  /** The time of the last event of a run that waits for nothing but timers and signals; null for any other run. */
  readonly quietSince: Date | null;
};

export type StuckReason = 'workflow_task_fails' | 'no_progress';

/** One try that fails or times out may be that of a worker that died. */
const FAILING_TASK_ATTEMPT = 3;

/**
 * Why the run cannot progress, or null when it may. The run of a payment that the operator has waits for signals, however long, and
 * that of one that waits for people waits until its expiry.
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

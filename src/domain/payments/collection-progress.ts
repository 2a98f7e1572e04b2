// Decides which transition of a collection follows from an operator status.
// Pure: the same inputs always give the same result.
import type { Clocks, PaymentClocks } from '../clocks.ts';
import type { Collection, CollectionState } from './collection.ts';
import type { FailureCode } from './failure.ts';
import { isAcceptance, type OperatorStatus, type QueriedStatus, type StatusBasis } from './operator-status.ts';
import { isFinal } from './payment.ts';
import type { NeverSentInput } from './send-progress.ts';

/** The transition inputs of a collection. An `expired` prompt is not `declined`: the payer may still have paid. */
export type CollectionTransitionInput =
  | { readonly kind: 'prompt_accepted' | 'outcome_unknown' | 'returned' }
  | NeverSentInput
  | { readonly kind: 'paid'; readonly operatorReceipt: string | null }
  | { readonly kind: 'declined' | 'expired'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted' | 'undecided'; readonly queriedAtMs: number };

/** The part of a collection from which its next step is decided. Times are Unix milliseconds. */
export type CollectionSnapshot = {
  readonly state: CollectionState;
  readonly failureCode: FailureCode | null;
  readonly promptDeadlineAtMs: number;
  readonly promptExpiresAtMs: number | null;
  /** Whether any try to raise the prompt began. */
  readonly isSendBegun: boolean;
  /** Present if a repeated send might pay twice: then `not_found` is no evidence. */
  readonly isSentOnce?: true;
};

export type CollectionLimits = Pick<PaymentClocks, 'notFoundGraceMs' | 'reconcileForMs'>;
/** The recorder also knows how long a prompt is open. */
type RecorderLimits = CollectionLimits & Pick<Clocks, 'promptWindowMs'>;

/**
 * The transition to record now, or null to keep waiting. The operator confirms every outcome. A status counts for a
 * deadline only if its query was made after the deadline: a late answer says nothing about the time since the query.
 * A collection without an outcome beyond all limits expires as `unknown`, and still gets an outcome that the operator
 * confirms later.
 */
export function nextCollectionTransition(
  snapshot: CollectionSnapshot,
  queried: QueriedStatus,
  limits: CollectionLimits,
): CollectionTransitionInput | null {
  const { state, promptExpiresAtMs } = snapshot;
  const { status, queriedAtMs } = queried;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  const outcome = outcomeOf(status);
  if (state === 'expired') return lateOutcome(snapshot, outcome);
  if (isFinal(state)) return null;
  if (state === 'initiated') {
    // A prompt must be recorded as accepted before its outcome can be.
    if (isAcceptance(status) || outcome !== null) return { kind: 'prompt_accepted' };
    return isNeverPrompted(snapshot, queried, limits)
      ? { kind: 'never_accepted', queriedAtMs }
      : { kind: 'outcome_unknown' };
  }
  // The payer may still pay until the prompt ends by our own clock: the recorder refuses an earlier expiry.
  const isEarly = outcome?.kind === 'expired' && promptExpiresAtMs !== null && queriedAtMs < promptExpiresAtMs;
  if (outcome !== null && !isEarly) return outcome;
  if (state === 'prompted') {
    // `paid_otherwise` is an outcome that nobody can record: waiting for the end of the prompt would not change it.
    const isOverdue = promptExpiresAtMs !== null && queriedAtMs >= promptExpiresAtMs;
    return isOverdue || status.kind === 'paid_otherwise' ? { kind: 'outcome_unknown' } : null;
  }
  if (isNeverPrompted(snapshot, queried, limits)) return { kind: 'never_accepted', queriedAtMs };
  return queriedAtMs >= reconciledUntilMs(snapshot, limits) ? { kind: 'undecided', queriedAtMs } : null;
}

/** The outcome that is still recorded for an expired collection. */
function lateOutcome({ failureCode }: CollectionSnapshot, outcome: Outcome | null): Outcome | null {
  if (outcome?.kind === 'paid') return outcome;
  return outcome?.kind === 'declined' && failureCode === 'unknown' ? outcome : null;
}

/** The basis of a transition, and the time of its recording. */
type Recording = { readonly basis: StatusBasis | null; readonly at: Date };

/**
 * Whether the row confirms the input, for which the recorder has a status with this basis. For an end by the clock, the earlier of
 * the query's time and the recorder's time counts: the clock of the process that made the query may be ahead. An expired prompt is
 * never recorded as a refusal, nor a refusal as an expiry.
 */
export function confirmsInput(
  {
    promptDeadlineAt,
    promptExpiresAt,
    sendsOnce,
  }: Pick<Collection, 'promptDeadlineAt' | 'promptExpiresAt' | 'sendsOnce'>,
  input: CollectionTransitionInput,
  { basis, at }: Recording,
  limits: RecorderLimits,
): boolean {
  const times = {
    promptDeadlineAtMs: promptDeadlineAt.getTime(),
    promptExpiresAtMs: promptExpiresAt?.getTime() ?? null,
  };
  switch (input.kind) {
    case 'declined':
      return refusalOf(input.failureCode).kind === input.kind;
    case 'expired':
      if (basis === null || refusalOf(input.failureCode).kind !== input.kind) return false;
      return Math.min(basis.queriedAtMs, at.getTime()) >= promptOverAtMs(times, limits);
    case 'undecided':
      return Math.min(input.queriedAtMs, at.getTime()) >= reconciledUntilMs(times, limits);
    case 'never_accepted':
      return !sendsOnce && isUnsendable(times, Math.min(input.queriedAtMs, at.getTime()), limits);
    case 'prompt_accepted':
    case 'outcome_unknown':
    case 'never_sent':
    case 'paid':
    case 'returned':
      return true;
  }
}

function refusalOf(failureCode: FailureCode) {
  return { kind: failureCode === 'prompt_expired' ? 'expired' : 'declined', failureCode } as const;
}

// Without a recorded acceptance, nobody knows when the prompt began, but it began no later than the prompt deadline.
function promptOverAtMs({ promptDeadlineAtMs, promptExpiresAtMs }: PromptTimes, { promptWindowMs }: RecorderLimits) {
  return promptExpiresAtMs ?? promptDeadlineAtMs + promptWindowMs;
}

type Outcome = Extract<CollectionTransitionInput, { kind: 'paid' | 'declined' | 'expired' }>;

function outcomeOf(status: OperatorStatus): Outcome | null {
  switch (status.kind) {
    case 'paid':
    case 'returned':
      // A returned payment was paid before: `paid` is recorded first, and `returned` after it.
      return { kind: 'paid', operatorReceipt: status.operatorReceipt };
    case 'declined':
      return refusalOf(status.failureCode);
    // `refused` answers a send, not a query.
    case 'refused':
    case 'paid_otherwise':
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'other_payment':
    case 'asked':
    case 'unknown':
      return null;
  }
}

type PromptTimes = Pick<CollectionSnapshot, 'promptDeadlineAtMs' | 'promptExpiresAtMs'>;

function reconciledUntilMs(
  { promptDeadlineAtMs, promptExpiresAtMs }: PromptTimes,
  { reconcileForMs }: CollectionLimits,
): number {
  return (promptExpiresAtMs ?? promptDeadlineAtMs) + reconcileForMs;
}

// Whether the operator does not know the payment, and none of our sends can still be on its way.
function isNeverPrompted(
  { isSentOnce, ...times }: PromptTimes & Pick<CollectionSnapshot, 'isSentOnce'>,
  { status, queriedAtMs }: QueriedStatus,
  limits: CollectionLimits,
): boolean {
  return status.kind === 'not_found' && !isSentOnce && isUnsendable(times, queriedAtMs, limits);
}

function isUnsendable(
  { promptDeadlineAtMs, promptExpiresAtMs }: PromptTimes,
  atMs: number,
  { notFoundGraceMs }: CollectionLimits,
): boolean {
  return promptExpiresAtMs === null && atMs >= promptDeadlineAtMs + notFoundGraceMs;
}

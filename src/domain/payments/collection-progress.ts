// Decides which transition of a collection follows from an operator status.
// Pure, because workflows replay it: the same inputs always give the same result.
import type { PaymentClocks } from '../clocks.ts';
import type { Collection, CollectionState } from './collection.ts';
import type { FailureCode } from './failure.ts';
import { isAcceptance, isNoStatus, type AttestedStatus, type OperatorStatus } from './operator-status.ts';
import { isFinal } from './payment.ts';

/** What a transition of a collection is recorded from. */
export type CollectionTransitionInput =
  | { readonly kind: 'prompt_accepted' | 'outcome_unknown' | 'never_sent' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined' | 'expired'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted' | 'undecided'; readonly queriedAtMs: number };

/** The part of a collection from which its workflow decides the next step. Times are Unix milliseconds. */
export type CollectionSnapshot = {
  readonly state: CollectionState;
  readonly failureCode: FailureCode | null;
  readonly promptDeadlineAtMs: number;
  readonly promptExpiresAtMs: number | null;
  /** Whether any try to raise the prompt ever began. */
  readonly isSendBegun: boolean;
};

export type CollectionLimits = Pick<PaymentClocks, 'notFoundGraceMs' | 'reconcileForMs'>;

/**
 * The transition to record now, or null to keep waiting. An outcome is always what the operator confirmed, and a status
 * counts for a deadline only if it was queried after it: a late answer says nothing of what happened since the question.
 * A collection without an outcome beyond all limits expires as `unknown`, and still gets the outcome that the operator
 * confirms later.
 */
export function nextCollectionTransition(
  snapshot: CollectionSnapshot,
  attested: AttestedStatus,
  limits: CollectionLimits,
): CollectionTransitionInput | null {
  const { state, promptExpiresAtMs } = snapshot;
  const { status, queriedAtMs } = attested;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  const outcome = outcomeOf(status);
  if (state === 'expired') return lateOutcome(snapshot, outcome);
  if (isFinal(state)) return null;
  if (state === 'initiated') {
    // A prompt must be recorded as accepted before its outcome can be.
    if (isAcceptance(status) || outcome !== null) return { kind: 'prompt_accepted' };
    return isNeverPrompted(snapshot, attested, limits)
      ? { kind: 'never_accepted', queriedAtMs }
      : { kind: 'outcome_unknown' };
  }
  if (outcome !== null) return outcome;
  if (state === 'prompted') {
    // Another amount is an outcome that nobody can record: waiting for the end of the prompt would not change it.
    const isOverdue = promptExpiresAtMs !== null && queriedAtMs >= promptExpiresAtMs;
    return isOverdue || status.kind === 'paid_otherwise' ? { kind: 'outcome_unknown' } : null;
  }
  if (isNeverPrompted(snapshot, attested, limits)) return { kind: 'never_accepted', queriedAtMs };
  const isOver = queriedAtMs >= reconciledUntilMs(snapshot, limits);
  return isOver && !isNoStatus(attested) ? { kind: 'undecided', queriedAtMs } : null;
}

/** What is still recorded of a collection that expired. */
function lateOutcome({ failureCode }: CollectionSnapshot, outcome: Outcome | null): Outcome | null {
  if (outcome?.kind === 'paid') return outcome;
  return outcome?.kind === 'declined' && failureCode === 'unknown' ? outcome : null;
}

/**
 * Whether the row confirms that the collection expires, by a status queried at that time and recorded `at`. The earlier
 * of the two times counts, because the clock of the process that made the query may be ahead.
 */
export function confirmsExpiry(
  { promptDeadlineAt, promptExpiresAt }: Pick<Collection, 'promptDeadlineAt' | 'promptExpiresAt'>,
  { kind, queriedAtMs }: Extract<CollectionTransitionInput, { queriedAtMs: number }>,
  at: Date,
  limits: CollectionLimits,
): boolean {
  const times = {
    promptDeadlineAtMs: promptDeadlineAt.getTime(),
    promptExpiresAtMs: promptExpiresAt?.getTime() ?? null,
  };
  const decidedAtMs = Math.min(queriedAtMs, at.getTime());
  return kind === 'undecided'
    ? decidedAtMs >= reconciledUntilMs(times, limits)
    : isUnsendable(times, decidedAtMs, limits);
}

type Outcome = Extract<CollectionTransitionInput, { kind: 'paid' | 'declined' | 'expired' }>;

function outcomeOf(status: OperatorStatus): Outcome | null {
  switch (status.kind) {
    case 'paid':
    case 'returned':
      // A returned payment was paid before: `paid` is recorded first, and `returned` after it.
      return { kind: 'paid', operatorReceipt: status.operatorReceipt };
    case 'declined':
      // A prompt that expired at the operator is not a refusal: the payer may still turn out to have paid.
      return {
        kind: status.failureCode === 'prompt_expired' ? 'expired' : 'declined',
        failureCode: status.failureCode,
      };
    case 'paid_otherwise':
    case 'pending':
    case 'not_found':
    case 'unreadable':
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

// The operator does not know the payment, and none of our sends can still be on its way.
function isNeverPrompted(
  times: PromptTimes,
  { status, queriedAtMs }: AttestedStatus,
  limits: CollectionLimits,
): boolean {
  return status.kind === 'not_found' && isUnsendable(times, queriedAtMs, limits);
}

function isUnsendable(
  { promptDeadlineAtMs, promptExpiresAtMs }: PromptTimes,
  atMs: number,
  { notFoundGraceMs }: CollectionLimits,
): boolean {
  return promptExpiresAtMs === null && atMs >= promptDeadlineAtMs + notFoundGraceMs;
}

// Decides which transition of a collection follows from an operator status.
// Pure, because workflows replay it: the same inputs always give the same result.
import type { PaymentClocks } from '../clocks.ts';
import type { CollectionState } from './collection.ts';
import type { FailureCode } from './failure.ts';
import type { OperatorStatus } from './operator-status.ts';
import { isFinal } from './payment.ts';

/** What a transition of a collection is recorded from. */
export type CollectionTransitionInput =
  | { readonly kind: 'prompt_accepted' | 'outcome_unknown' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined' | 'expired'; readonly failureCode: FailureCode };

/** The part of a collection from which its workflow decides the next step. Times are Unix milliseconds. */
export type CollectionSnapshot = {
  readonly state: CollectionState;
  readonly promptDeadlineAtMs: number;
  readonly promptExpiresAtMs: number | null;
};

export type CollectionLimits = Pick<PaymentClocks, 'notFoundGraceMs' | 'reconcileForMs'>;

/**
 * The transition to record now, or null to keep waiting. An outcome is always what the operator confirmed. A collection
 * without an outcome beyond all limits expires as `unknown`, and still succeeds if it turns out later to be paid.
 */
export function nextCollectionTransition(
  snapshot: CollectionSnapshot,
  status: OperatorStatus,
  nowMs: number,
  limits: CollectionLimits,
): CollectionTransitionInput | null {
  const { state, promptDeadlineAtMs, promptExpiresAtMs } = snapshot;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  const outcome = outcomeOf(status);
  if (isFinal(state)) return state === 'expired' && outcome?.kind === 'paid' ? outcome : null;
  if (state === 'initiated') {
    // A prompt must be recorded as accepted before its outcome can be.
    if (status.kind === 'pending' || outcome !== null) return { kind: 'prompt_accepted' };
    return isNeverPrompted(snapshot, status, nowMs, limits) ? NEVER_PROMPTED : { kind: 'outcome_unknown' };
  }
  if (outcome !== null) return outcome;
  if (state === 'prompted') {
    return promptExpiresAtMs !== null && nowMs >= promptExpiresAtMs ? { kind: 'outcome_unknown' } : null;
  }
  if (promptExpiresAtMs === null && isNeverPrompted(snapshot, status, nowMs, limits)) return NEVER_PROMPTED;
  const reconcileUntilMs = (promptExpiresAtMs ?? promptDeadlineAtMs) + limits.reconcileForMs;
  return nowMs >= reconcileUntilMs ? { kind: 'expired', failureCode: 'unknown' } : null;
}

const NEVER_PROMPTED = { kind: 'expired', failureCode: 'operator_unavailable' } as const;

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
    case 'pending':
    case 'not_found':
    case 'unknown':
      return null;
  }
}

// The operator does not know the payment, and none of our sends can still be on its way.
function isNeverPrompted(
  { promptDeadlineAtMs }: CollectionSnapshot,
  status: OperatorStatus,
  nowMs: number,
  { notFoundGraceMs }: CollectionLimits,
): boolean {
  return status.kind === 'not_found' && nowMs >= promptDeadlineAtMs + notFoundGraceMs;
}

// What to make of the operator's word on a collection. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { CollectionState } from './collection.ts';
import type { FailureCode } from './failure.ts';
import type { OperatorStatus } from './operator-status.ts';

/** A fact with what is recorded along with it. */
export type CollectionTransitionInput =
  | { readonly kind: 'prompt_accepted' }
  | { readonly kind: 'outcome_unknown' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined' | 'expired'; readonly failureCode: FailureCode };

/** Where a collection stands, as far as waiting for it goes. Times are Unix milliseconds. */
export type CollectionSnapshot = {
  readonly state: CollectionState;
  readonly promptDeadlineAtMs: number;
  readonly promptExpiresAtMs: number | null;
};

export type Patience = {
  /** How long after the prompt deadline a send may still be on its way to the operator. */
  readonly notFoundGraceMs: number;
  /** How long after the prompt ran out we go on asking for an undecided payment. */
  readonly reconcileForMs: number;
};

/** The operator will say no more of it by itself: nothing to wait for. */
export function isFinal(state: CollectionState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'expired' || state === 'reversed';
}

/**
 * The fact to record now, or null to go on waiting. An outcome is only ever what the operator confirmed; when it stays
 * undecided past all patience the collection lapses as `unknown`, and a payment found later still counts.
 */
export function nextCollectionTransition(
  snapshot: CollectionSnapshot,
  status: OperatorStatus,
  nowMs: number,
  patience: Patience,
): CollectionTransitionInput | null {
  const { state, promptDeadlineAtMs, promptExpiresAtMs } = snapshot;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  const settled = finalTransition(status);
  if (isFinal(state)) return state === 'expired' && settled?.kind === 'paid' ? settled : null;
  if (state === 'initiated') {
    // It must be known to have been asked for before it can be known to be paid.
    return status.kind === 'pending' || settled !== null
      ? { kind: 'prompt_accepted' }
      : undecidedSend(snapshot, status, nowMs, patience);
  }
  if (settled !== null) return settled;
  if (state === 'prompted') {
    return promptExpiresAtMs !== null && nowMs >= promptExpiresAtMs ? { kind: 'outcome_unknown' } : null;
  }
  if (promptExpiresAtMs === null && isNeverAccepted(snapshot, status, nowMs, patience)) {
    return { kind: 'expired', failureCode: 'operator_unavailable' };
  }
  const patienceEndsAtMs = (promptExpiresAtMs ?? promptDeadlineAtMs) + patience.reconcileForMs;
  return nowMs >= patienceEndsAtMs ? { kind: 'expired', failureCode: 'unknown' } : null;
}

function finalTransition(
  status: OperatorStatus,
): Extract<CollectionTransitionInput, { kind: 'paid' | 'declined' | 'expired' }> | null {
  switch (status.kind) {
    case 'paid':
    case 'returned':
      // What was returned was paid before: both are recorded, one after the other.
      return { kind: 'paid', operatorReceipt: status.operatorReceipt };
    case 'declined':
      // A prompt that ran out at the operator is no refusal: the payer may still be found to have paid.
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

// The operator never took it, and none of our sends can still be under way.
function isNeverAccepted(
  snapshot: CollectionSnapshot,
  status: OperatorStatus,
  nowMs: number,
  patience: Patience,
): boolean {
  return status.kind === 'not_found' && nowMs >= snapshot.promptDeadlineAtMs + patience.notFoundGraceMs;
}

function undecidedSend(
  snapshot: CollectionSnapshot,
  status: OperatorStatus,
  nowMs: number,
  patience: Patience,
): CollectionTransitionInput {
  return isNeverAccepted(snapshot, status, nowMs, patience)
    ? { kind: 'expired', failureCode: 'operator_unavailable' }
    : { kind: 'outcome_unknown' };
}

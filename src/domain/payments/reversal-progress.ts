// What to make of the operator's word on a refund. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { ReversalState } from './reversal.ts';
import type { OperatorStatus } from './operator-status.ts';
import { isNeverAccepted, type Sending } from './sent-money.ts';

export type ReversalTransitionInput =
  | { readonly kind: 'refunded' | 'outcome_unknown' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

export type ReversalSnapshot = Sending & { readonly state: ReversalState; readonly sendDeadlineAtMs: number };

/** The fact to record now, or null to go on waiting. As for payouts, nothing is guessed. */
export function nextReversalTransition(
  snapshot: ReversalSnapshot,
  status: OperatorStatus,
  queriedAtMs: number,
  notFoundGraceMs: number,
): ReversalTransitionInput | null {
  const { state, sendDeadlineAtMs } = snapshot;
  if (state === 'succeeded' || state === 'failed') return null;
  if (status.kind === 'paid') return { kind: 'refunded' };
  if (status.kind === 'declined') return { kind: 'declined', failureCode: status.failureCode };
  if (status.kind === 'not_found' && isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) {
    return { kind: 'never_accepted', queriedAtMs };
  }
  // A refund that came back to us is nothing we know how to book: somebody must look.
  return state === 'requested' && queriedAtMs >= sendDeadlineAtMs ? { kind: 'outcome_unknown' } : null;
}

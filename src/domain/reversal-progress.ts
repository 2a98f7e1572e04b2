// What to make of the operator's word on a refund. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { ReversalState } from './reversal.ts';

/** What the operator says of a refund; `unknown`: it could not be asked, or said nothing we may rely on. */
export type RefundWord =
  | { readonly kind: 'refunded' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

export type ReversalFact =
  { readonly fact: 'refunded' | 'outcome_unknown' } | { readonly fact: 'declined'; readonly failureCode: FailureCode };

export type ReversalStanding = {
  readonly state: ReversalState;
  readonly sendDeadlineAtMs: number;
  /** The operator said once that it has the refund. */
  readonly isTaken: boolean;
};

/** The fact to record now, or null to go on waiting. As for payouts, nothing is guessed. */
export function reversalFactToRecord(
  { state, sendDeadlineAtMs, isTaken }: ReversalStanding,
  word: RefundWord,
  nowMs: number,
  notFoundGraceMs: number,
): ReversalFact | null {
  if (state === 'succeeded' || state === 'failed') return null;
  if (word.kind === 'refunded') return { fact: 'refunded' };
  if (word.kind === 'declined') return { fact: 'declined', failureCode: word.failureCode };
  if (word.kind === 'not_found' && !isTaken && nowMs >= sendDeadlineAtMs + notFoundGraceMs) {
    return { fact: 'declined', failureCode: 'operator_unavailable' };
  }
  return state === 'requested' && nowMs >= sendDeadlineAtMs ? { fact: 'outcome_unknown' } : null;
}

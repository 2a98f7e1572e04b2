// What to make of the operator's word on a payout. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { PayoutState } from './payout.ts';

/** A fact that a workflow records, with what is recorded along with it. What people decide is recorded elsewhere. */
export type RecordablePayoutFact =
  | { readonly fact: 'lapsed' | 'outcome_unknown' | 'returned' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode };

/** What the operator says when asked. `unknown`: it could not be asked, or said nothing we may rely on. */
export type PayoutWord =
  | { readonly kind: 'paid' | 'returned'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

/** Where a payout stands, as far as waiting for it goes. Times are Unix milliseconds. */
export type PayoutStanding = {
  readonly state: PayoutState;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
  readonly sendDeadlineAtMs: number | null;
  /** The operator said once that it has it. */
  readonly isTaken: boolean;
};

/**
 * The fact to record now, or null to go on waiting. An outcome is only ever what the operator confirmed; while it stays
 * undecided the money stays held. That the operator never took the payment is believed once no send of ours can still be
 * on its way, `notFoundGraceMs` after the last moment at which one may begin, and never of a payment that it once had.
 */
export function payoutFactToRecord(
  standing: PayoutStanding,
  word: PayoutWord,
  nowMs: number,
  notFoundGraceMs: number,
): RecordablePayoutFact | null {
  const { state, sendDeadlineAtMs } = standing;
  if (state === 'succeeded') return word.kind === 'returned' ? { fact: 'returned' } : null;
  if ((state !== 'released' && state !== 'reconciling') || sendDeadlineAtMs === null) return null;
  switch (word.kind) {
    case 'paid':
    case 'returned':
      // What was returned was paid before: both are booked, one after the other.
      return { fact: 'paid', operatorReceipt: word.operatorReceipt };
    case 'declined':
      return { fact: 'declined', failureCode: word.failureCode };
    case 'not_found':
      if (!standing.isTaken && nowMs >= sendDeadlineAtMs + notFoundGraceMs) {
        return { fact: 'declined', failureCode: 'operator_unavailable' };
      }
      return overdue(state, nowMs, sendDeadlineAtMs);
    case 'pending':
    case 'unknown':
      return overdue(state, nowMs, sendDeadlineAtMs);
  }
}

function overdue(state: PayoutState, nowMs: number, sendDeadlineAtMs: number): RecordablePayoutFact | null {
  return state === 'released' && nowMs >= sendDeadlineAtMs ? { fact: 'outcome_unknown' } : null;
}

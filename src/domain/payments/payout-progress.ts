// What to make of the operator's word on a payout. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { PayoutState } from './payout.ts';
import type { OperatorWord } from './operator-status.ts';
import { isNeverTaken, type Sending } from './sent-money.ts';

/** A fact that a workflow records, with what is recorded along with it. What people decide is recorded elsewhere. */
export type RecordablePayoutFact =
  | { readonly fact: 'lapsed' | 'outcome_unknown' | 'returned' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode }
  | { readonly fact: 'never_taken'; readonly askedAtMs: number };

/** Where a payout stands, as far as waiting for it goes. Times are Unix milliseconds. */
export type PayoutStanding = Sending & {
  readonly state: PayoutState;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
};

/**
 * The fact to record now, or null to go on waiting. An outcome is only ever what the operator confirmed when it was asked
 * at `askedAtMs`; while it stays undecided the money stays held.
 */
export function payoutFactToRecord(
  standing: PayoutStanding,
  word: OperatorWord,
  askedAtMs: number,
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
      if (isNeverTaken(standing, askedAtMs, notFoundGraceMs)) return { fact: 'never_taken', askedAtMs };
      return overdue(state, askedAtMs, sendDeadlineAtMs);
    case 'pending':
    case 'unknown':
      return overdue(state, askedAtMs, sendDeadlineAtMs);
  }
}

function overdue(state: PayoutState, askedAtMs: number, sendDeadlineAtMs: number): RecordablePayoutFact | null {
  return state === 'released' && askedAtMs >= sendDeadlineAtMs ? { fact: 'outcome_unknown' } : null;
}

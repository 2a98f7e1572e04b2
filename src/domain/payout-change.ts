// What a fact makes of a payout: decided here, recorded elsewhere.
import type { FailureCode } from './failure.ts';
import type { UserId } from './ids.ts';
import { isOpen, PAYOUT_TRANSITIONS, type Payout } from './payout.ts';

/** A fact with what is recorded along with it. */
export type PayoutStep =
  | { readonly fact: 'approved'; readonly sendDeadlineAt: Date }
  | { readonly fact: 'refused'; readonly by: UserId; readonly reason: string }
  | { readonly fact: 'withdrawn'; readonly by: UserId }
  | { readonly fact: 'lapsed' | 'outcome_unknown' | 'returned' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode };

export type PayoutChange = {
  readonly before: Payout;
  readonly after: Payout;
  /** What the operator calls the payment; known from the moment it is paid. */
  readonly operatorReceipt: string | null;
  /** When the sweep looks at it, should no workflow have moved it by then; null when nothing more can come. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the fact leads nowhere from the state the payout is in. */
export function changePayout(before: Payout, step: PayoutStep, at: Date, overdueAfterMs: number): PayoutChange | null {
  const state = PAYOUT_TRANSITIONS[before.state][step.fact];
  if (state === undefined) return null;
  const after: Payout = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: 'failureCode' in step ? step.failureCode : null,
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    decidedBy: 'by' in step ? step.by : before.decidedBy,
    rejectionReason: 'reason' in step ? step.reason : before.rejectionReason,
    sendDeadlineAt: 'sendDeadlineAt' in step ? step.sendDeadlineAt : before.sendDeadlineAt,
    updatedAt: at,
  };
  return {
    before,
    after,
    operatorReceipt: 'operatorReceipt' in step ? step.operatorReceipt : null,
    checkDueAt: isOpen(state) ? new Date(at.getTime() + overdueAfterMs) : null,
  };
}

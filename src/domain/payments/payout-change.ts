// What a fact makes of a payout: decided here, recorded elsewhere.
import type { FailureCode } from './failure.ts';
import type { UserId } from '../ids.ts';
import { posting, type Posting, type PostingKind } from './ledger.ts';
import { isOpen, PAYOUT_TRANSITIONS, type Payout, type PayoutState } from './payout.ts';

/** A fact with what is recorded along with it. */
export type PayoutTransitionInput =
  | { readonly kind: 'approved'; readonly sendDeadlineAt: Date }
  | { readonly kind: 'refused'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'withdrawn'; readonly by: UserId }
  | { readonly kind: 'approval_expired' | 'outcome_unknown' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

export type PayoutChange = {
  readonly before: Payout;
  readonly after: Payout;
  /** What the operator calls the payment; known from the moment it is paid. */
  readonly operatorReceipt: string | null;
  /** It holds only as long as nobody noted that the operator has the payment. */
  readonly requiresNotAccepted: boolean;
  /** When the sweep looks at it, should no workflow have moved it by then; null when nothing more can come. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the fact leads nowhere from the state the payout is in. */
export function changePayout(
  before: Payout,
  step: PayoutTransitionInput,
  at: Date,
  overdueAfterMs: number,
): PayoutChange | null {
  const state = PAYOUT_TRANSITIONS[before.state][step.kind];
  if (state === undefined) return null;
  const after: Payout = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: failureOf(step),
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
    requiresNotAccepted: step.kind === 'never_accepted',
    checkDueAt: isOpen(state) ? new Date(at.getTime() + overdueAfterMs) : null,
  };
}

function failureOf(step: PayoutTransitionInput): FailureCode | null {
  if (step.kind === 'never_accepted') return 'operator_unavailable';
  return 'failureCode' in step ? step.failureCode : null;
}

/** On coming into each state. Between `released` and its end the money stays held. */
const POSTING_OF_STATE: Readonly<Record<PayoutState, PostingKind | null>> = {
  queued: 'payout_held',
  released: null,
  reconciling: null,
  succeeded: 'payout_paid',
  failed: 'payout_voided',
  rejected: 'payout_voided',
  cancelled: 'payout_voided',
  expired: 'payout_voided',
  reversed: 'payout_returned',
};

/** The movement of money that belongs to the payout's coming into the state it is in; null: none. */
export function payoutPosting(payout: Payout): Posting | null {
  const kind = POSTING_OF_STATE[payout.state];
  return kind && posting(kind, payout);
}

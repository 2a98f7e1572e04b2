// What a transition input makes of a payout: decided here, recorded elsewhere.
import type { FailureCode } from './failure.ts';
import type { UserId } from '../ids.ts';
import { posting, type Posting, type PostingKind } from './ledger.ts';
import { isFinal } from './payment.ts';
import { PAYOUT_TRANSITIONS, type Payout, type PayoutState } from './payout.ts';
import type { PayoutOutcomeInput } from './payout-progress.ts';

/** What moves a payout, with what is recorded along with it: decisions of people, and what workflows record. */
export type PayoutTransitionInput =
  | PayoutOutcomeInput
  | { readonly kind: 'approved'; readonly sendDeadlineAt: Date }
  | { readonly kind: 'refused'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'withdrawn'; readonly by: UserId };

export type PayoutChange = {
  readonly before: Payout;
  readonly after: Payout;
  /** The operator's own id of the payment; known once it is paid. */
  readonly operatorReceipt: string | null;
  /** The change stands only while nothing records that the operator accepted the payout. */
  readonly requiresNotAccepted: boolean;
  /** When the sweep requeues it, should no workflow have moved it by then; null when it is final. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the input leads nowhere from the present state. */
export function changePayout(
  before: Payout,
  input: PayoutTransitionInput,
  at: Date,
  overdueAfterMs: number,
): PayoutChange | null {
  const state = PAYOUT_TRANSITIONS[before.state][input.kind];
  if (state === undefined) return null;
  const after: Payout = {
    ...before,
    state,
    previousState: before.state,
    version: before.version + 1,
    failureCode: failureOf(input),
    amountReversedMinor: state === 'reversed' ? before.amountMinor : before.amountReversedMinor,
    decidedBy: 'by' in input ? input.by : before.decidedBy,
    rejectionReason: 'reason' in input ? input.reason : before.rejectionReason,
    sendDeadlineAt: 'sendDeadlineAt' in input ? input.sendDeadlineAt : before.sendDeadlineAt,
    updatedAt: at,
  };
  return {
    before,
    after,
    operatorReceipt: 'operatorReceipt' in input ? input.operatorReceipt : null,
    requiresNotAccepted: input.kind === 'never_accepted',
    checkDueAt: isFinal(state) ? null : new Date(at.getTime() + overdueAfterMs),
  };
}

function failureOf(input: PayoutTransitionInput): FailureCode | null {
  if (input.kind === 'never_accepted') return 'operator_unavailable';
  return 'failureCode' in input ? input.failureCode : null;
}

/** On entry into each state. From `released` until the payout is final the money stays held. */
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

/** The posting that belongs to the payout's entry into its present state; null: none. */
export function payoutPosting(payout: Payout): Posting | null {
  const kind = POSTING_OF_STATE[payout.state];
  return kind && posting(kind, payout);
}

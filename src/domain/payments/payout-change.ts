// Decides how a transition input changes a payout. The operations record the change.
import { failureOf, type FailureCause } from './failure.ts';
import type { UserId } from '../ids.ts';
import { posting, type Posting, type PostingKind } from './ledger.ts';
import { PAYOUT_TRANSITIONS, type Payout, type PayoutState } from './payout.ts';
import type { PayoutOutcomeInput } from './payout-progress.ts';
import { moneyOutCheckDueAt, type SendCheckClocks } from './recorded-send.ts';

/** What a transition of a payout is recorded from: a decision of people, or what its workflow records. */
export type PayoutTransitionInput =
  | PayoutOutcomeInput
  | { readonly kind: 'released'; readonly sendDeadlineAt: Date; readonly releaseAttestation: string }
  | { readonly kind: 'rejected'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: UserId };

export type PayoutChange = {
  readonly before: Payout;
  readonly after: Payout;
  /** What made it fail; null unless it failed. */
  readonly failedBy: FailureCause | null;
  /** Whether the change may be written only while no acceptance by the operator is recorded. */
  readonly requiresNotAccepted: boolean;
  /** Whether the change may be written only while no try to send it is recorded. */
  readonly requiresNotSent: boolean;
  /** When the payout is checked, unless a workflow has changed it by then; null when nothing more is awaited. */
  readonly checkDueAt: Date | null;
};

/** The change, or null when the current state has no transition for the input. */
export function changePayout(
  before: Payout,
  input: PayoutTransitionInput,
  at: Date,
  clocks: SendCheckClocks,
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
    operatorReceipt: 'operatorReceipt' in input ? input.operatorReceipt : before.operatorReceipt,
    decidedBy: 'by' in input ? input.by : before.decidedBy,
    rejectionReason: 'reason' in input ? input.reason : before.rejectionReason,
    sendDeadlineAt: 'sendDeadlineAt' in input ? input.sendDeadlineAt : before.sendDeadlineAt,
    releaseAttestation: 'releaseAttestation' in input ? input.releaseAttestation : before.releaseAttestation,
    updatedAt: at,
  };
  return {
    before,
    after,
    failedBy: state === 'failed' ? (input.kind as FailureCause) : null,
    requiresNotAccepted: input.kind === 'never_accepted',
    requiresNotSent: input.kind === 'never_sent',
    checkDueAt: moneyOutCheckDueAt(state, input.kind, at, clocks),
  };
}

/** The posting on entry into each state. The money is held from `queued` until the payout is final. */
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

/** The posting on entry into the payout's current state, or null when that moves no money. */
export function payoutPosting(payout: Payout): Posting | null {
  const kind = POSTING_OF_STATE[payout.state];
  return kind && posting(kind, payout);
}

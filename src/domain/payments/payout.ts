// A payout: its states, the table of its transitions, and what merchants see of it.
import { approvalObject, approvalState, type Approval, type ApprovalState } from './approval.ts';
import { payoutFailure, type FailureCode } from './failure.ts';
import type { ApiKeyId, MerchantId, PayoutId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';
import type { NotFounds } from './send-progress.ts';

export type PayoutState =
  'queued' | 'released' | 'reconciling' | 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'expired' | 'reversed';

/** The kinds of transitions of a payout. */
export type PayoutTransitionKind =
  | 'released' // it has all the approvals that it needs
  | 'rejected' // by an approver
  | 'cancelled' // by its maker
  | 'approval_expired' // it was not released in time
  | 'outcome_unknown' // the operator is unreachable, or undecided for too long
  | 'paid' // the operator confirms that it paid
  | 'declined' // the operator confirms that it will not pay
  | 'never_sent' // nobody tried to send it before its deadline
  | 'never_accepted' // the operator does not know it, and no send of ours can still be on its way
  | 'returned'; // the operator gave the money back to us

/**
 * An absent pair changes nothing. docs/states.md is made from this table; the migrations repeat it, and a test holds them
 * equal.
 */
export const PAYOUT_TRANSITIONS: Readonly<
  Record<PayoutState, Readonly<Partial<Record<PayoutTransitionKind, PayoutState>>>>
> = {
  queued: { released: 'released', rejected: 'rejected', cancelled: 'cancelled', approval_expired: 'expired' },
  released: {
    outcome_unknown: 'reconciling',
    paid: 'succeeded',
    declined: 'failed',
    never_sent: 'failed',
    never_accepted: 'failed',
  },
  reconciling: { paid: 'succeeded', declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  succeeded: { returned: 'reversed' },
  failed: {},
  rejected: {},
  cancelled: {},
  expired: {},
  reversed: {},
};

export const PAYOUT_STATES = Object.keys(PAYOUT_TRANSITIONS) as PayoutState[];

export type Payout = {
  readonly id: PayoutId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly state: PayoutState;
  readonly previousState: PayoutState | null;
  /** Counts state changes; 0 is the payout as it was created. */
  readonly version: number;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly reference: string;
  readonly phone: string;
  readonly operator: OperatorId;
  /** The operator's name for it: a UUID v4, recorded before anything is sent. */
  readonly operatorReference: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly failureCode: FailureCode | null;
  readonly amountReversedMinor: bigint;
  /** The operator's own number of the payment that it paid; null until it has paid. */
  readonly operatorReceipt: string | null;
  /** The maker: the person who requested it, or who created the API key that did. Never one of its approvers. */
  readonly createdBy: UserId;
  readonly apiKeyId: ApiKeyId | null;
  /** The request that made it; null: it was made before that was recorded. */
  readonly requestId: string | null;
  readonly approvalsRequired: number;
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  /** Who rejected or cancelled it. */
  readonly decidedBy: UserId | null;
  readonly rejectionReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** From this time on it cannot be released. */
  readonly expiresAt: Date;
  /** After this time it is not sent any more; null until it is released. */
  readonly sendDeadlineAt: Date | null;
  /** By the process that recorded the request; null when no process of ours did, or one of a version that attested none. */
  readonly requestAttestation: string | null;
  /** By the process that recorded the release; null until then, and as for approvals. */
  readonly releaseAttestation: string | null;
  /** When the first try to send it began, whatever it led to; null when nobody tried. */
  readonly sendBegunAt: Date | null;
  /** When the operator first confirmed that it has the payout: from then on `not_found` does not void the hold. */
  readonly acceptedAt: Date | null;
} & NotFounds;

export function statesOfApproval(approval: ApprovalState): PayoutState[] {
  return PAYOUT_STATES.filter((state) => approvalState(state) === approval);
}

/** The payout as JSON, the same in the fetch route, in lists and in events. Amounts fit a JSON number by check. */
export function payoutObject(payout: Payout) {
  return {
    id: payout.id,
    state: payout.state,
    approval_state: approvalState(payout.state),
    amount: Number(payout.amountMinor),
    currency: payout.currency,
    reference: payout.reference,
    phone: payout.phone,
    operator: payout.operator,
    description: payout.description,
    metadata: payout.metadata,
    failure: payout.failureCode === null ? null : payoutFailure(payout.failureCode),
    operator_reference: payout.operatorReference,
    amount_reversed: Number(payout.amountReversedMinor),
    created_by: payout.createdBy,
    approvals_required: payout.approvalsRequired,
    approvals: payout.approvals.map(approvalObject),
    rejection_reason: payout.rejectionReason,
    created_at: payout.createdAt.toISOString(),
    updated_at: payout.updatedAt.toISOString(),
    expires_at: payout.expiresAt.toISOString(),
  };
}

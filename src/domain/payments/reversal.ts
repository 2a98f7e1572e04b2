// A reversal that a maker requested: its states, the table of its transitions, and what merchants see of it.
import { approvalObject, approvalState, type Approval, type ApprovalState } from './approval.ts';
import { payoutFailure, type FailureCode } from './failure.ts';
import type { CollectionId, MerchantId, ReversalId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';
import type { NotFounds } from './send-progress.ts';

/** As of a payout. The collection itself becomes `reversed` when the refund succeeds. */
export type ReversalState =
  'queued' | 'released' | 'reconciling' | 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'expired';

/** The kinds of transitions of a reversal. */
export type ReversalTransitionKind =
  | 'released' // it has all the approvals that it needs
  | 'rejected' // by an approver
  | 'cancelled' // by its maker
  | 'approval_expired' // it was not released in time
  | 'outcome_unknown' // the operator is unreachable, or undecided for too long
  | 'refunded' // the operator confirms that the payer has the money back
  | 'declined' // the operator confirms that it will not refund
  | 'never_sent' // nobody tried to send the refund before its deadline, or before the operator returned the collection
  | 'never_accepted'; // the operator does not know the refund, and no send of ours can still be on its way

/**
 * An absent pair changes nothing. docs/states.md is made from this table; the migrations repeat it, and a test holds them
 * equal.
 */
export const REVERSAL_TRANSITIONS: Readonly<
  Record<ReversalState, Readonly<Partial<Record<ReversalTransitionKind, ReversalState>>>>
> = {
  queued: { released: 'released', rejected: 'rejected', cancelled: 'cancelled', approval_expired: 'expired' },
  released: {
    outcome_unknown: 'reconciling',
    refunded: 'succeeded',
    declined: 'failed',
    never_sent: 'failed',
    never_accepted: 'failed',
  },
  reconciling: { refunded: 'succeeded', declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  succeeded: {},
  failed: {},
  rejected: {},
  cancelled: {},
  expired: {},
};

export const REVERSAL_STATES = Object.keys(REVERSAL_TRANSITIONS) as [ReversalState, ...ReversalState[]];

export function statesOfReversalApproval(approval: ApprovalState): ReversalState[] {
  return REVERSAL_STATES.filter((state) => approvalState(state) === approval);
}

export type Reversal = {
  readonly id: ReversalId;
  readonly merchantId: MerchantId;
  readonly collectionId: CollectionId;
  /** Of the collection: the whole of it goes back, to the phone that it came from. */
  readonly operator: OperatorId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly phone: string;
  readonly reference: string;
  readonly collectionOperatorReference: string;
  readonly state: ReversalState;
  /** The operator's name for the refund: a UUID v4, recorded before anything is sent. */
  readonly operatorReference: string;
  readonly failureCode: FailureCode | null;
  /** The maker: the person who requested it. Never one of its approvers. */
  readonly createdBy: UserId;
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
  /** After this time the refund is not sent any more; null until it is released. */
  readonly sendDeadlineAt: Date | null;
  /** By the process that recorded the request; null when no process of ours did, or one of a version that attested none. */
  readonly requestAttestation: string | null;
  /** By the process that recorded the release; null until then. */
  readonly releaseAttestation: string | null;
  /** When the first try to send the refund began, whatever it led to; null when nobody tried. */
  readonly sendBegunAt: Date | null;
  /** When the operator first confirmed that it has the refund; null until then. */
  readonly acceptedAt: Date | null;
  /** Whether its collection is reversed, so that no refund may be sent. */
  readonly isCollectionReturned: boolean;
} & NotFounds;

export function reversalObject(reversal: Reversal) {
  return {
    id: reversal.id,
    collection_id: reversal.collectionId,
    state: reversal.state,
    approval_state: approvalState(reversal.state),
    amount: Number(reversal.amountMinor),
    currency: reversal.currency,
    phone: reversal.phone,
    reference: reversal.reference,
    failure: reversal.failureCode === null ? null : payoutFailure(reversal.failureCode),
    operator_reference: reversal.operatorReference,
    requested_by: reversal.createdBy,
    approvals_required: reversal.approvalsRequired,
    approvals: reversal.approvals.map(approvalObject),
    rejection_reason: reversal.rejectionReason,
    created_at: reversal.createdAt.toISOString(),
    updated_at: reversal.updatedAt.toISOString(),
    expires_at: reversal.expiresAt.toISOString(),
  };
}

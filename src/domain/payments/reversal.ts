// A reversal that an approver requested: its states, the table of its transitions, and what merchants see of it.
import { payoutFailure, type FailureCode } from './failure.ts';
import type { CollectionId, MerchantId, ReversalId, UserId } from '../ids.ts';
import type { OperatorId } from './operator-catalogue.ts';
import type { NotFounds } from './recorded-send.ts';

/** `requested`: the refund is being sent; `reconciling`: its outcome is unknown. */
export type ReversalState = 'requested' | 'reconciling' | 'succeeded' | 'failed';

/** The kinds of transitions of a reversal. */
export type ReversalTransitionKind =
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
  requested: {
    outcome_unknown: 'reconciling',
    refunded: 'succeeded',
    declined: 'failed',
    never_sent: 'failed',
    never_accepted: 'failed',
  },
  reconciling: { refunded: 'succeeded', declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  succeeded: {},
  failed: {},
};

export const REVERSAL_STATES = Object.keys(REVERSAL_TRANSITIONS) as [ReversalState, ...ReversalState[]];

export type Reversal = {
  readonly id: ReversalId;
  readonly merchantId: MerchantId;
  readonly collectionId: CollectionId;
  readonly operator: OperatorId;
  readonly state: ReversalState;
  /** The operator's name for the refund: a UUID v4, recorded before anything is sent. */
  readonly operatorReference: string;
  readonly failureCode: FailureCode | null;
  readonly requestedBy: UserId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** After this time the refund is not sent any more. */
  readonly sendDeadlineAt: Date;
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
    failure: reversal.failureCode === null ? null : payoutFailure(reversal.failureCode),
    operator_reference: reversal.operatorReference,
    requested_by: reversal.requestedBy,
    created_at: reversal.createdAt.toISOString(),
    updated_at: reversal.updatedAt.toISOString(),
  };
}

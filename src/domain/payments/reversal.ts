// A reversal that an approver asked for: the operator's refund of a whole collection to its payer.
import { payoutFailure, type FailureCode } from './failure.ts';
import type { CollectionId, MerchantId, ReversalId, UserId } from '../ids.ts';
import type { OperatorId } from './operator-catalogue.ts';

export const REVERSAL_STATES = ['requested', 'reconciling', 'succeeded', 'failed'] as const;
/** `requested`: being sent; `reconciling`: the operator's answer is not known; then how it ended. */
export type ReversalState = (typeof REVERSAL_STATES)[number];

export type Reversal = {
  readonly id: ReversalId;
  readonly merchantId: MerchantId;
  readonly collectionId: CollectionId;
  readonly operator: OperatorId;
  readonly state: ReversalState;
  /** What the operator knows the refund by: UUID v4, recorded before anything is sent. */
  readonly operatorReference: string;
  readonly failureCode: FailureCode | null;
  readonly requestedBy: UserId;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** After it nothing is sent to the operator any more. */
  readonly sendDeadlineAt: Date;
  /** When the operator first said that it has the refund. */
  readonly acceptedAt: Date | null;
};

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

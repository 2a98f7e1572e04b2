// A reversal that an approver asked for: the operator's refund of a whole collection to its payer.
import { failure, type FailureCode } from './failure.ts';
import type { CollectionId, MerchantId, ReversalId, UserId } from './ids.ts';
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
};

export function reversalObject(reversal: Reversal) {
  return {
    id: reversal.id,
    collection_id: reversal.collectionId,
    state: reversal.state,
    failure: reversal.failureCode === null ? null : failure(reversal.failureCode),
    operator_reference: reversal.operatorReference,
    requested_by: reversal.requestedBy,
    created_at: reversal.createdAt.toISOString(),
    updated_at: reversal.updatedAt.toISOString(),
  };
}

/** What the operator says of a refund; `unknown`: it could not be asked, or said nothing we may rely on. */
export type RefundWord =
  | { readonly kind: 'refunded' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

export type ReversalFact =
  { readonly fact: 'refunded' | 'outcome_unknown' } | { readonly fact: 'declined'; readonly failureCode: FailureCode };

export type ReversalStanding = { readonly state: ReversalState; readonly sendDeadlineAtMs: number };

/** The fact to record now, or null to go on waiting. Pure, and replayed by workflows. As for payouts, nothing is guessed. */
export function reversalFactToRecord(
  { state, sendDeadlineAtMs }: ReversalStanding,
  word: RefundWord,
  nowMs: number,
  notFoundGraceMs: number,
): ReversalFact | null {
  if (state === 'succeeded' || state === 'failed') return null;
  if (word.kind === 'refunded') return { fact: 'refunded' };
  if (word.kind === 'declined') return { fact: 'declined', failureCode: word.failureCode };
  if (word.kind === 'not_found' && nowMs >= sendDeadlineAtMs + notFoundGraceMs) {
    return { fact: 'declined', failureCode: 'operator_unavailable' };
  }
  return state === 'requested' && nowMs >= sendDeadlineAtMs ? { fact: 'outcome_unknown' } : null;
}

// The workflows' public face: names, inputs, signals, ids and search attributes. Starters, activities and tests read this.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { DeliveryId, EndpointId, MerchantId, ReversalId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentId, PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';

export const COLLECTION_WORKFLOW = 'collectionWorkflow';
export const PAYOUT_WORKFLOW = 'payoutWorkflow';
export const REVERSAL_WORKFLOW = 'reversalWorkflow';
export const DELIVERY_WORKFLOW = 'deliveryWorkflow';
export const RECONCILIATION_WORKFLOW = 'reconciliationWorkflow';
export const LEDGER_CHECK_WORKFLOW = 'ledgerCheckWorkflow';

/** The operator called back about the payment. It carries nothing: the operator is queried for the status. */
export const OPERATOR_CALLED_BACK = 'operatorCalledBack';

/** People approved, rejected or cancelled a payout. It carries nothing: the database holds their decision. */
export const PAYOUT_DECISION_RECORDED = 'decisionRecorded';

/**
 * Ids only: histories hold no amounts, phones, secrets or durations. A run reads the durations when it loads its payment,
 * and its history keeps them for replay.
 */
export type PaymentWorkflowInput<Kind extends PaymentKind = PaymentKind> = PaymentRef<Kind> & {
  readonly operator: OperatorId;
};

/** Ids only, as for payments. */
export type DeliveryWorkflowInput = {
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  /** Which run through the schedule it is: 0, and one more with each replay. */
  readonly replayCount: number;
};

/** The id that makes one payment one workflow, whoever starts it and however often. */
export function collectionWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `collection/${merchantId}/${idempotencyKey}`;
}

export function payoutWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `payout/${merchantId}/${idempotencyKey}`;
}

export function reversalWorkflowId(reversalId: ReversalId): string {
  return `reversal/${reversalId}`;
}

/**
 * Of a recheck of a final payment. Its idempotency key may be in use again, and the workflow of that name may be another
 * payment's: so a recheck is named for the payment itself.
 */
export function recheckWorkflowId(id: PaymentId): string {
  return `recheck/${id}`;
}

/** Each replay is a workflow of its own: one that still waits in the earlier schedule finds nothing due and ends. */
export function deliveryWorkflowId(deliveryId: DeliveryId, replayCount = 0): string {
  return replayCount === 0 ? `delivery/${deliveryId}` : `delivery/${deliveryId}/replay-${replayCount}`;
}

/** Payments of one operator, workflows and calls alike: a slow operator fills its own queue and no other. */
export function operatorTaskQueue(prefix: string, operator: OperatorId): string {
  return `${prefix}-${operator}`;
}

export function deliveryTaskQueue(prefix: string): string {
  return `${prefix}-deliveries`;
}

export function reconciliationTaskQueue(prefix: string): string {
  return `${prefix}-reconciliation`;
}

export function reconciliationScheduleId(prefix: string): string {
  return `${prefix}-reconciliation`;
}

export function ledgerCheckScheduleId(prefix: string): string {
  return `${prefix}-ledger-check`;
}

/** How a person finds a payment in the Temporal UI. They are never encrypted: no phones, no references of merchants. */
export const SEARCH_ATTRIBUTES = {
  merchantId: defineSearchAttributeKey('MalipoMerchantId', SearchAttributeType.KEYWORD),
  /** Of the collection, the payout, the reversal or the delivery. */
  resourceId: defineSearchAttributeKey('MalipoResourceId', SearchAttributeType.KEYWORD),
  operator: defineSearchAttributeKey('MalipoOperator', SearchAttributeType.KEYWORD),
  endpointId: defineSearchAttributeKey('MalipoEndpointId', SearchAttributeType.KEYWORD),
  /** Who must act next: `payer`, `approver`, or `operator` when a payout was sent or an outcome is overdue. */
  waitsFor: defineSearchAttributeKey('MalipoWaitsFor', SearchAttributeType.KEYWORD),
} as const;

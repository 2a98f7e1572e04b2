// The workflows' public face: names, inputs, signals, ids and search attributes. Starters, activities and tests read this.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { CollectionId, DeliveryId, EndpointId, MerchantId, PayoutId, ReversalId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';

export const COLLECTION_WORKFLOW = 'collectionWorkflow';
export const PAYOUT_WORKFLOW = 'payoutWorkflow';
export const REVERSAL_WORKFLOW = 'reversalWorkflow';
export const DELIVERY_WORKFLOW = 'deliveryWorkflow';
export const RECONCILIATION_WORKFLOW = 'reconciliationWorkflow';
export const LEDGER_CHECK_WORKFLOW = 'ledgerCheckWorkflow';

/** The operator called back about the payment. It carries nothing: what happened is asked of the operator. */
export const OPERATOR_CALLED_BACK = 'operatorCalledBack';

/** People approved, rejected or cancelled a payout. It carries nothing: what they decided is in the database. */
export const PAYOUT_DECISION_RECORDED = 'decisionRecorded';

/** Every wait of a collection, in milliseconds. Part of the input, so that a run keeps to what it was started with. */
export type CollectionTimings = {
  /** Waits between tries to raise the prompt: the first one, and the longest. */
  readonly promptRetryMs: number;
  readonly promptRetryMaxMs: number;
  /** How long tries to raise the prompt go on within one run, at the most. */
  readonly promptDeadlineMs: number;
  /** Waits between questions to the operator while the payer decides; the last one repeats. */
  readonly pollScheduleMs: readonly number[];
  /** The same once the outcome is overdue. */
  readonly reconcileScheduleMs: readonly number[];
  readonly reconcileForMs: number;
  readonly notFoundGraceMs: number;
  /** The shortest time between two questions, however many callbacks come. */
  readonly minimumQueryGapMs: number;
  /** One call to the operator, all of it. */
  readonly operatorCallMs: number;
};

/** Ids and durations only: histories hold no amounts, phones or secrets. */
export type CollectionWorkflowInput = {
  readonly collectionId: CollectionId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly timings: CollectionTimings;
};

/** Every wait of a payout, in milliseconds. Part of the input, so that a run keeps to what it was started with. */
export type PayoutTimings = {
  /** Waits between tries to send: the first one, and the longest. */
  readonly sendRetryMs: number;
  readonly sendRetryMaxMs: number;
  /** How long tries to send go on within one run, at the most. */
  readonly sendDeadlineMs: number;
  /** Waits between questions to the operator; the last one repeats. */
  readonly pollScheduleMs: readonly number[];
  /** The same once the outcome is overdue. */
  readonly reconcileScheduleMs: readonly number[];
  readonly notFoundGraceMs: number;
  readonly minimumQueryGapMs: number;
  /** One call to the operator, all of it. */
  readonly operatorCallMs: number;
};

/** Ids and durations only, as for collections. */
export type PayoutWorkflowInput = {
  readonly payoutId: PayoutId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly timings: PayoutTimings;
};

/** A refund is sent and asked after as a payout is. */
export type ReversalWorkflowInput = {
  readonly reversalId: ReversalId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
  readonly timings: PayoutTimings;
};

export type DeliveryWorkflowInput = {
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  /** Which run through the schedule it is: 0, and one more with each replay. Absent in those of before there were replays. */
  readonly replayCount?: number;
  /** Before the first attempt of this run. */
  readonly firstDelayMs: number;
  /** One attempt, with its recording. */
  readonly attemptMs: number;
  /** After a crash in the middle of an attempt, when no schedule applies. */
  readonly crashRetryMs: number;
};

/** The id that makes one payment one workflow, whoever starts it and however often. */
export function collectionWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `collection/${merchantId}/${idempotencyKey}`;
}

export function payoutWorkflowId(merchantId: MerchantId, idempotencyKey: string): string {
  return `payout/${merchantId}/${idempotencyKey}`;
}

/**
 * Of a look at a payment that has ended. Its key may be in use again, and the workflow of that name may be another payment's:
 * so a look is named for the payment itself.
 */
export function recheckWorkflowId(id: CollectionId | PayoutId): string {
  return `recheck/${id}`;
}

export function reversalWorkflowId(reversalId: ReversalId): string {
  return `reversal/${reversalId}`;
}

/** Each replay is a workflow of its own: one that still waits in the old schedule finds nothing owed and ends. */
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

/** By these a person finds a payment in the Temporal UI. They are never encrypted: no phones, no references of merchants. */
export const SEARCH_ATTRIBUTES = {
  merchantId: defineSearchAttributeKey('MalipoMerchantId', SearchAttributeType.KEYWORD),
  /** Of the collection, the payout, the reversal or the delivery. */
  resourceId: defineSearchAttributeKey('MalipoResourceId', SearchAttributeType.KEYWORD),
  operator: defineSearchAttributeKey('MalipoOperator', SearchAttributeType.KEYWORD),
  endpointId: defineSearchAttributeKey('MalipoEndpointId', SearchAttributeType.KEYWORD),
  /** Who must act next: `payer`, `approver`, or `operator` when a payout was sent or an outcome is overdue. */
  waitsFor: defineSearchAttributeKey('MalipoWaitsFor', SearchAttributeType.KEYWORD),
} as const;

// The public interface of the workflows: names, inputs, signals, queues and search attributes.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { DeliveryId, EndpointId } from '../src/domain/ids.ts';
import type { OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { PaymentKind, PaymentRef } from '../src/domain/payments/payment.ts';

export const COLLECTION_WORKFLOW = 'collectionWorkflow';
export const PAYOUT_WORKFLOW = 'payoutWorkflow';
export const REVERSAL_WORKFLOW = 'reversalWorkflow';
export const DELIVERY_WORKFLOW = 'deliveryWorkflow';
export const RECONCILIATION_WORKFLOW = 'reconciliationWorkflow';
export const LEDGER_CHECK_WORKFLOW = 'ledgerCheckWorkflow';
export const WHOLE_LEDGER_CHECK_WORKFLOW = 'wholeLedgerCheckWorkflow';

/** The operator called back about the payment. The signal carries no data: the operator is queried for the status. */
export const OPERATOR_CALLED_BACK = 'operatorCalledBack';

/** A person decided about the payment, or an outcome was recorded. The signal carries no data: the row has the change. */
export const PAYMENT_CHANGED = 'paymentChanged';

/**
 * Ids only: histories hold no amounts, phones or secrets. The input has no durations either: a run reads them when it loads its payment,
 * and its history keeps them for replay.
 */
export type PaymentWorkflowInput<Kind extends PaymentKind = PaymentKind> = PaymentRef<Kind> & {
  readonly operator: OperatorId;
};

/** Ids only, as for payments. */
export type DeliveryWorkflowInput = {
  readonly deliveryId: DeliveryId;
  readonly endpointId: EndpointId;
  /** 0 for the first run through the schedule, and one more for each replay. */
  readonly replayCount: number;
};

/** The queue of one operator, for workflows and calls: a slow operator fills only its own queue. */
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

export function wholeLedgerCheckScheduleId(prefix: string): string {
  return `${prefix}-whole-ledger-check`;
}

/** A person finds payments in the Temporal UI by these attributes. They are never encrypted: no phones, no merchant references. */
export const SEARCH_ATTRIBUTES = {
  merchantId: defineSearchAttributeKey('MalipoMerchantId', SearchAttributeType.KEYWORD),
  /** The id of the collection, the payout, the reversal or the delivery. */
  resourceId: defineSearchAttributeKey('MalipoResourceId', SearchAttributeType.KEYWORD),
  operator: defineSearchAttributeKey('MalipoOperator', SearchAttributeType.KEYWORD),
  endpointId: defineSearchAttributeKey('MalipoEndpointId', SearchAttributeType.KEYWORD),
  /** The state of the payment, as in docs/states.md. */
  state: defineSearchAttributeKey('MalipoState', SearchAttributeType.KEYWORD),
  /** Who must act next: `payer`, `approver` or `operator`; no value if nobody must act. */
  waitsFor: defineSearchAttributeKey('MalipoWaitsFor', SearchAttributeType.KEYWORD),
} as const;

/** The line by which the Temporal UI describes the run of a payment. */
export function paymentSummary({ kind, id, operator }: PaymentWorkflowInput): string {
  return `${kind} ${id} at ${operator}`;
}

/** Help for a person who opens the run of a payment in the Temporal UI for the first time. */
export const PAYMENT_DETAILS =
  'The row of the payment is the truth: a run that is terminated is started again from it, and a signal moves no money. ' +
  'Never complete or fail its activities by hand. The documentation has a page about the Temporal UI.';

/** The first words of the failure of a delivery's run whose endpoint accepted no attempt: expected, and no fault of ours. */
export const DEAD_LETTERED = 'dead-lettered:';

/** The reports of workflows to their worker, outside of their histories: the end of a payment's run. */
export type TraceSinks = {
  readonly traces: { runEnded(paymentId: string, hasFailed: boolean): void };
};

// Starts workflows: each with the id that makes it one, its queue, its input, and what a person in the Temporal UI sees.
import type { Client } from '@temporalio/client';
import type { CollectionState } from '../domain/payments/collection.ts';
import { isFinal } from '../domain/payments/collection-progress.ts';
import type { CollectionId, DeliveryId, EndpointId, MerchantId, PayoutId, ReversalId } from '../domain/ids.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { hasOperatorOutcome, type PayoutState } from '../domain/payments/payout.ts';
import {
  COLLECTION_WORKFLOW,
  collectionWorkflowId,
  DELIVERY_WORKFLOW,
  deliveryTaskQueue,
  deliveryWorkflowId,
  recheckWorkflowId,
  operatorTaskQueue,
  PAYOUT_DECISION_RECORDED,
  PAYOUT_WORKFLOW,
  payoutWorkflowId,
  REVERSAL_WORKFLOW,
  reversalWorkflowId,
  SEARCH_ATTRIBUTES,
  type CollectionTimings,
  type CollectionWorkflowInput,
  type DeliveryWorkflowInput,
  type PayoutTimings,
  type PayoutWorkflowInput,
  type ReversalWorkflowInput,
} from '../../workflows/contract.ts';

export type StartOptions = {
  readonly taskQueuePrefix: string;
  /** How soon a task of a worker that died is given to another. */
  readonly workflowTaskTimeoutMs: number;
  readonly collectionTimings: CollectionTimings;
  readonly payoutTimings: PayoutTimings;
  readonly deliveryAttemptMs: number;
  readonly deliveryCrashRetryMs: number;
};

export type CollectionToStart = {
  readonly id: CollectionId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly operator: OperatorId;
  /** As recorded: what has ended is only looked at. */
  readonly state: CollectionState;
};

export type PayoutToStart = {
  readonly id: PayoutId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly operator: OperatorId;
  readonly state: PayoutState;
};

export type ReversalToStart = {
  readonly id: ReversalId;
  readonly merchantId: MerchantId;
  readonly operator: OperatorId;
};

export type DeliveryToStart = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly replayCount: number;
  readonly nextAttemptAt: Date | null;
};

export async function startCollectionWorkflow(client: Client, collection: CollectionToStart, options: StartOptions) {
  const { id, merchantId, operator, state } = collection;
  const input: CollectionWorkflowInput = {
    collectionId: id,
    merchantId,
    operator,
    timings: options.collectionTimings,
  };
  await client.workflow.start(COLLECTION_WORKFLOW, {
    workflowId: workflowIdOfCollection(collection),
    taskQueue: operatorTaskQueue(options.taskQueuePrefix, operator),
    args: [input],
    // One at a time; again when it is closed, which repairs a lost one and harms none: the row decides.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    requestEagerStart: true,
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    staticSummary: `collection ${id} at ${operator}`,
    typedSearchAttributes: paymentAttributes(collection, isFinal(state) ? 'operator' : 'payer'),
  });
}

export async function startDeliveryWorkflow(client: Client, delivery: DeliveryToStart, options: StartOptions) {
  const { id, merchantId, endpointId, replayCount, nextAttemptAt } = delivery;
  const input: DeliveryWorkflowInput = {
    deliveryId: id,
    endpointId,
    replayCount,
    firstDelayMs: Math.max(0, (nextAttemptAt?.getTime() ?? 0) - Date.now()),
    attemptMs: options.deliveryAttemptMs,
    crashRetryMs: options.deliveryCrashRetryMs,
  };
  await client.workflow.start(DELIVERY_WORKFLOW, {
    workflowId: deliveryWorkflowId(id, replayCount),
    taskQueue: deliveryTaskQueue(options.taskQueuePrefix),
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    // Inherited by its attempts: when more are due than can be made at once, each endpoint has its turn.
    priority: { fairnessKey: endpointId },
    staticSummary: `delivery ${id} to ${endpointId}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
      { key: SEARCH_ATTRIBUTES.resourceId, value: id },
      { key: SEARCH_ATTRIBUTES.endpointId, value: endpointId },
    ],
  });
}

/** The workflow that is the collection's own, or that looks at one that has ended. */
export function workflowIdOfCollection({ id, merchantId, idempotencyKey, state }: CollectionToStart): string {
  return isFinal(state) ? recheckWorkflowId(id) : collectionWorkflowId(merchantId, idempotencyKey);
}

export function workflowIdOfPayout({ id, merchantId, idempotencyKey, state }: PayoutToStart): string {
  return hasOperatorOutcome(state) ? recheckWorkflowId(id) : payoutWorkflowId(merchantId, idempotencyKey);
}

/** One call that reaches an open workflow and makes one where there is none: a decision is never lost between the two. */
export async function signalPayoutWorkflow(client: Client, payout: PayoutToStart, options: StartOptions) {
  const { id, merchantId, operator, state } = payout;
  const input: PayoutWorkflowInput = { payoutId: id, merchantId, operator, timings: options.payoutTimings };
  await client.workflow.signalWithStart(PAYOUT_WORKFLOW, {
    signal: PAYOUT_DECISION_RECORDED,
    workflowId: workflowIdOfPayout(payout),
    taskQueue: operatorTaskQueue(options.taskQueuePrefix, operator),
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    staticSummary: `payout ${id} at ${operator}`,
    typedSearchAttributes: paymentAttributes(payout, hasOperatorOutcome(state) ? 'operator' : 'approver'),
  });
}

export async function startReversalWorkflow(client: Client, reversal: ReversalToStart, options: StartOptions) {
  const { id, merchantId, operator } = reversal;
  const input: ReversalWorkflowInput = { reversalId: id, merchantId, operator, timings: options.payoutTimings };
  await client.workflow.start(REVERSAL_WORKFLOW, {
    workflowId: reversalWorkflowId(id),
    taskQueue: operatorTaskQueue(options.taskQueuePrefix, operator),
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    staticSummary: `reversal ${id} at ${operator}`,
    typedSearchAttributes: paymentAttributes(reversal, 'operator'),
  });
}

type AtOperator = { readonly id: string; readonly merchantId: MerchantId; readonly operator: OperatorId };

function paymentAttributes({ id, merchantId, operator }: AtOperator, waitsFor: 'payer' | 'approver' | 'operator') {
  return [
    { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
    { key: SEARCH_ATTRIBUTES.resourceId, value: id },
    { key: SEARCH_ATTRIBUTES.operator, value: operator },
    { key: SEARCH_ATTRIBUTES.waitsFor, value: waitsFor },
  ];
}

// How the workflow of each kind of work is started: its id, its queue, its input, and what the Temporal UI shows of it.
import type { WorkflowStartOptions } from '@temporalio/client';
import type { MerchantId } from '../domain/ids.ts';
import { waitingParty } from '../domain/payments/waiting-party.ts';
import type { DeliveryWork, PaymentWork, Work } from '../domain/work.ts';
import {
  COLLECTION_WORKFLOW,
  DELIVERY_WORKFLOW,
  deliveryTaskQueue,
  operatorTaskQueue,
  PAYMENT_DETAILS,
  paymentSummary,
  PAYOUT_WORKFLOW,
  REVERSAL_WORKFLOW,
  SEARCH_ATTRIBUTES,
  type DeliveryWorkflowInput,
  type PaymentWorkflowInput,
} from '../../workflows/contract.ts';
import { collectionWorkflowId, deliveryWorkflowId, payoutWorkflowId, reversalWorkflowId } from './workflow-ids.ts';

// Help for a person who opens a run in the Temporal UI for the first time.
const DELIVERY_DETAILS =
  'All further attempts are tries of one activity: resetting it sends the event now. A run that is terminated is started again from ' +
  'the row of the delivery. The documentation has a page about the Temporal UI.';

export type StartOptions = {
  readonly taskQueuePrefix: string;
  /** How soon a task of a worker that died is given to another. */
  readonly workflowTaskTimeoutMs: number;
};

export type WorkflowStart = {
  readonly workflowType: string;
  readonly options: WorkflowStartOptions & { readonly args: unknown[] };
};

const WORKFLOW_TYPES = {
  collection: COLLECTION_WORKFLOW,
  payout: PAYOUT_WORKFLOW,
  reversal: REVERSAL_WORKFLOW,
} as const;

// Only one is open at a time. Once closed it may start again: that repairs a lost one and does no harm otherwise,
// because the rows decide.
export function workflowStartOf(work: Work, options: StartOptions): WorkflowStart {
  const start = work.kind === 'delivery' ? deliveryStart(work, options) : paymentStart(work, options);
  const { workflowTaskTimeoutMs } = options;
  const common = { workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowTaskTimeout: workflowTaskTimeoutMs } as const;
  return { ...start, options: { ...common, ...start.options } };
}

function paymentStart(work: PaymentWork, { taskQueuePrefix }: StartOptions): WorkflowStart {
  const { kind, id, merchantId, operator } = work;
  const input = { kind, id, merchantId, operator } as PaymentWorkflowInput;
  const party = waitingParty(kind, work.state);
  return {
    workflowType: WORKFLOW_TYPES[kind],
    options: {
      workflowId: workflowIdOf(work),
      taskQueue: operatorTaskQueue(taskQueuePrefix, operator),
      args: [input],
      // Where this process has a worker, a collection's first task runs in it, without a round trip through the queue.
      requestEagerStart: kind === 'collection',
      staticSummary: paymentSummary(input),
      staticDetails: PAYMENT_DETAILS,
      typedSearchAttributes: [
        ...attributesOf(merchantId, id),
        { key: SEARCH_ATTRIBUTES.operator, value: operator },
        { key: SEARCH_ATTRIBUTES.state, value: work.state },
        ...(party === null ? [] : [{ key: SEARCH_ATTRIBUTES.waitsFor, value: party }]),
      ],
    },
  };
}

function deliveryStart(work: DeliveryWork, options: StartOptions): WorkflowStart {
  const { id, merchantId, endpointId, replayCount } = work;
  const input: DeliveryWorkflowInput = { deliveryId: id, endpointId, replayCount };
  return {
    workflowType: DELIVERY_WORKFLOW,
    options: {
      workflowId: deliveryWorkflowId(id, replayCount),
      taskQueue: deliveryTaskQueue(options.taskQueuePrefix),
      args: [input],
      // Its attempts inherit the key: when more are due than can be sent at once, the endpoints take turns.
      priority: { fairnessKey: endpointId },
      staticSummary: `delivery ${id} to ${endpointId}`,
      staticDetails: DELIVERY_DETAILS,
      typedSearchAttributes: [
        ...attributesOf(merchantId, id),
        { key: SEARCH_ATTRIBUTES.endpointId, value: endpointId },
      ],
    },
  };
}

/** The workflow of the payment, or of the delivery. */
export function workflowIdOf(work: Work): string {
  if (work.kind === 'delivery') return deliveryWorkflowId(work.id, work.replayCount);
  switch (work.kind) {
    case 'collection':
      return collectionWorkflowId(work.merchantId, work.idempotencyKey);
    case 'payout':
      return payoutWorkflowId(work.merchantId, work.idempotencyKey);
    case 'reversal':
      return reversalWorkflowId(work.id);
  }
}

function attributesOf(merchantId: MerchantId, id: string) {
  return [
    { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
    { key: SEARCH_ATTRIBUTES.resourceId, value: id },
  ];
}

// How the workflow of each kind of work is started: its id, its queue, its input, and what the Temporal UI shows of it.
import type { WorkflowStartOptions } from '@temporalio/client';
import type { MerchantId } from '../domain/ids.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { isFinal } from '../domain/payments/payment.ts';
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
  RECHECKS_WORKFLOW,
  rechecksWorkflowId,
  REVERSAL_WORKFLOW,
  SEARCH_ATTRIBUTES,
  type DeliveryWorkflowInput,
  type PaymentWorkflowInput,
  type RechecksWorkflowInput,
} from '../../workflows/contract.ts';
import {
  collectionWorkflowId,
  deliveryWorkflowId,
  payoutWorkflowId,
  recheckWorkflowId,
  reversalWorkflowId,
} from './workflow-ids.ts';

// For whoever opens a run in the Temporal UI for the first time.
const DELIVERY_DETAILS =
  'All further attempts are tries of one activity: resetting it sends the event now. A run that is terminated is started again from ' +
  'the row of the delivery. The documentation has a page about the Temporal UI.';

export type StartOptions = {
  readonly taskQueuePrefix: string;
  /** How soon a task of a worker that died is given to another. */
  readonly workflowTaskTimeoutMs: number;
  /** An open run of rechecks keeps the next one from starting: one that cannot progress must not do so for ever. */
  readonly rechecksTimeoutMs: number;
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

export function workflowStartOf(work: Work, options: StartOptions): WorkflowStart {
  return withCommon(work.kind === 'delivery' ? deliveryStart(work, options) : paymentStart(work, options), options);
}

// Only one is open at a time. Once closed it may start again: that repairs a lost one and does no harm otherwise,
// because the rows decide.
function withCommon(start: WorkflowStart, { workflowTaskTimeoutMs }: StartOptions): WorkflowStart {
  const common = { workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowTaskTimeout: workflowTaskTimeoutMs } as const;
  return { ...start, options: { ...common, ...start.options } };
}

export function rechecksStartOf(operator: OperatorId, options: StartOptions): WorkflowStart {
  const input: RechecksWorkflowInput = { operator };
  const { taskQueuePrefix, rechecksTimeoutMs } = options;
  const own = {
    workflowId: rechecksWorkflowId(taskQueuePrefix, operator),
    workflowExecutionTimeout: rechecksTimeoutMs,
    taskQueue: operatorTaskQueue(taskQueuePrefix, operator),
    args: [input],
    staticSummary: `rechecks at ${operator}`,
    typedSearchAttributes: [{ key: SEARCH_ATTRIBUTES.operator, value: operator }],
  };
  return withCommon({ workflowType: RECHECKS_WORKFLOW, options: own }, options);
}

function paymentStart(work: PaymentWork, { taskQueuePrefix }: StartOptions): WorkflowStart {
  const { kind, id, merchantId, operator } = work;
  const input = { kind, id, merchantId, operator } as PaymentWorkflowInput;
  const party = isRecheck(work) ? 'operator' : waitingParty(kind, work.state);
  return {
    workflowType: WORKFLOW_TYPES[kind],
    options: {
      workflowId: workflowIdOf(work),
      taskQueue: operatorTaskQueue(taskQueuePrefix, operator),
      args: [input],
      // Where this process has a worker, a collection's first task runs in it, without a round trip through the queue.
      requestEagerStart: kind === 'collection',
      staticSummary: `${isRecheck(work) ? 'recheck of ' : ''}${paymentSummary(input)}`,
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

/** The payment's own workflow, the one that rechecks a final payment, or that of a delivery. */
export function workflowIdOf(work: Work): string {
  if (work.kind === 'delivery') return deliveryWorkflowId(work.id, work.replayCount);
  if (isRecheck(work)) return recheckWorkflowId(work.id);
  switch (work.kind) {
    case 'collection':
      return collectionWorkflowId(work.merchantId, work.idempotencyKey);
    case 'payout':
      return payoutWorkflowId(work.merchantId, work.idempotencyKey);
    case 'reversal':
      return reversalWorkflowId(work.id);
  }
}

// A payout in these states was never sent, so there is nothing to recheck: its own workflow is signalled, and ends.
const NEVER_RELEASED = ['rejected', 'cancelled', 'expired'];

function isRecheck({ kind, state }: PaymentWork): boolean {
  // A reversal's workflow is named by the reversal's own id, which no other payment can take.
  if (kind === 'reversal' || !isFinal(state)) return false;
  return kind === 'collection' || !NEVER_RELEASED.includes(state);
}

function attributesOf(merchantId: MerchantId, id: string) {
  return [
    { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
    { key: SEARCH_ATTRIBUTES.resourceId, value: id },
  ];
}

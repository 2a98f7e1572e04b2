// The door to Temporal: one connection that client and worker share, and the few calls we make on it.
import {
  type Client,
  ScheduleAlreadyRunning,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { CollectionId, DeliveryId, EndpointId, MerchantId } from '../domain/ids.ts';
import type { OperatorId } from '../domain/operator-catalogue.ts';
import {
  COLLECTION_WORKFLOW,
  collectionWorkflowId,
  DELIVERY_WORKFLOW,
  deliveryTaskQueue,
  deliveryWorkflowId,
  LEDGER_CHECK_WORKFLOW,
  ledgerCheckScheduleId,
  OPERATOR_CALLED_BACK,
  operatorTaskQueue,
  RECONCILIATION_WORKFLOW,
  reconciliationScheduleId,
  reconciliationTaskQueue,
  SEARCH_ATTRIBUTES,
  type CollectionTimings,
  type CollectionWorkflowInput,
  type DeliveryWorkflowInput,
} from '../../workflows/contract.ts';
import { connectTemporal, type TemporalConnection, type TemporalConnectionOptions } from './temporal-connection.ts';

export type TemporalOptions = TemporalConnectionOptions & {
  readonly taskQueuePrefix: string;
  /** How soon a task of a worker that died is given to another. */
  readonly workflowTaskTimeoutMs: number;
  readonly collectionTimings: CollectionTimings;
  readonly deliveryAttemptMs: number;
  readonly deliveryCrashRetryMs: number;
};

export type CollectionToStart = {
  readonly id: CollectionId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly operator: OperatorId;
};

export type DeliveryToStart = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly nextAttemptAt: Date | null;
};

export type TemporalClient = Pick<TemporalConnection, 'whenConnected' | 'isConnected' | 'close'> & {
  /** Whether the server answers now. */
  ping(): Promise<boolean>;
  /** True when a workflow runs for it now, by this call or an earlier one; false when Temporal is away. */
  startCollection(collection: CollectionToStart): Promise<boolean>;
  startDelivery(delivery: DeliveryToStart): Promise<boolean>;
  /** `closed`: there is no open workflow to tell. */
  tellOperatorCalledBack(collection: CollectionToStart): Promise<'told' | 'closed' | 'away'>;
  /** Makes the schedules of the sweep and of the check of the ledger, or brings their intervals up to date. */
  ensureSchedules(intervals: ScheduleIntervals): Promise<void>;
};

export type ScheduleIntervals = { readonly sweepEveryMs: number; readonly ledgerCheckEveryMs: number };

// Whoever asks whether we are ready does not wait for long.
const PING_TIMEOUT_MS = 1000;

export function createTemporalClient(options: TemporalOptions): TemporalClient {
  const temporal = connectTemporal(options);

  async function start(work: (client: Client) => Promise<unknown>): Promise<boolean> {
    try {
      return (await temporal.call(work)) !== 'away';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
      throw error;
    }
  }

  return {
    whenConnected: () => temporal.whenConnected(),
    isConnected: () => temporal.isConnected(),
    close: () => temporal.close(),

    async ping() {
      const answer = await temporal.call(
        (client) => client.connection.workflowService.getSystemInfo({}),
        PING_TIMEOUT_MS,
      );
      return answer !== 'away';
    },

    startCollection: (collection) => start((client) => startCollectionWorkflow(client, collection, options)),
    startDelivery: (delivery) => start((client) => startDeliveryWorkflow(client, delivery, options)),

    async tellOperatorCalledBack({ merchantId, idempotencyKey }) {
      const workflowId = collectionWorkflowId(merchantId, idempotencyKey);
      try {
        return await temporal.call(async (client) => {
          await client.workflow.getHandle(workflowId).signal(OPERATOR_CALLED_BACK);
          return 'told' as const;
        });
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'closed';
        throw error;
      }
    },

    async ensureSchedules(intervals) {
      await temporal.whenConnected();
      for (const schedule of schedulesFor(options.taskQueuePrefix, intervals)) {
        const made = await temporal.call((client) => ensureSchedule(client, schedule));
        if (made === 'away') throw new Error(`Temporal went away before ${schedule.scheduleId} was made`);
      }
    },
  };
}

async function startCollectionWorkflow(client: Client, collection: CollectionToStart, options: TemporalOptions) {
  const { id, merchantId, idempotencyKey, operator } = collection;
  const input: CollectionWorkflowInput = {
    collectionId: id,
    merchantId,
    operator,
    timings: options.collectionTimings,
  };
  await client.workflow.start(COLLECTION_WORKFLOW, {
    workflowId: collectionWorkflowId(merchantId, idempotencyKey),
    taskQueue: operatorTaskQueue(options.taskQueuePrefix, operator),
    args: [input],
    // One at a time; again when it is closed, which repairs a lost one and harms none: the row decides.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    requestEagerStart: true,
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    staticSummary: `collection ${id} at ${operator}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
      { key: SEARCH_ATTRIBUTES.resourceId, value: id },
      { key: SEARCH_ATTRIBUTES.operator, value: operator },
      { key: SEARCH_ATTRIBUTES.waitsFor, value: 'payer' },
    ],
  });
}

async function startDeliveryWorkflow(client: Client, delivery: DeliveryToStart, options: TemporalOptions) {
  const { id, merchantId, endpointId, nextAttemptAt } = delivery;
  const input: DeliveryWorkflowInput = {
    deliveryId: id,
    endpointId,
    firstDelayMs: Math.max(0, (nextAttemptAt?.getTime() ?? 0) - Date.now()),
    attemptMs: options.deliveryAttemptMs,
    crashRetryMs: options.deliveryCrashRetryMs,
  };
  await client.workflow.start(DELIVERY_WORKFLOW, {
    workflowId: deliveryWorkflowId(id),
    taskQueue: deliveryTaskQueue(options.taskQueuePrefix),
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    workflowTaskTimeout: options.workflowTaskTimeoutMs,
    staticSummary: `delivery ${id} to ${endpointId}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.merchantId, value: merchantId },
      { key: SEARCH_ATTRIBUTES.resourceId, value: id },
      { key: SEARCH_ATTRIBUTES.endpointId, value: endpointId },
    ],
  });
}

type Schedule = {
  readonly scheduleId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly everyMs: number;
};

function schedulesFor(prefix: string, { sweepEveryMs, ledgerCheckEveryMs }: ScheduleIntervals): Schedule[] {
  const taskQueue = reconciliationTaskQueue(prefix);
  return [
    {
      scheduleId: reconciliationScheduleId(prefix),
      workflowType: RECONCILIATION_WORKFLOW,
      taskQueue,
      everyMs: sweepEveryMs,
    },
    {
      scheduleId: ledgerCheckScheduleId(prefix),
      workflowType: LEDGER_CHECK_WORKFLOW,
      taskQueue,
      everyMs: ledgerCheckEveryMs,
    },
  ];
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  const { scheduleId, workflowType, taskQueue, everyMs } = schedule;
  const spec = { intervals: [{ every: everyMs }] };
  const action = { type: 'startWorkflow', workflowType, taskQueue } as const;
  try {
    await client.schedule.create({
      scheduleId,
      spec,
      action,
      // One that takes longer than the interval is not doubled; one that was missed is not made up for.
      policies: { overlap: 'SKIP', catchupWindow: everyMs },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(scheduleId).update((previous) => ({
      ...previous,
      spec,
      action: { ...action, workflowId: previous.action.workflowId },
    }));
  }
}

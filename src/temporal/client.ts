// The door to Temporal: one connection that client and worker share, and the few calls we make on it.
import {
  type Client,
  ScheduleAlreadyRunning,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import {
  LEDGER_CHECK_WORKFLOW,
  ledgerCheckScheduleId,
  OPERATOR_CALLED_BACK,
  RECONCILIATION_WORKFLOW,
  reconciliationScheduleId,
  reconciliationTaskQueue,
  reversalWorkflowId,
} from '../../workflows/contract.ts';
import { connectTemporal, type TemporalConnection, type TemporalConnectionOptions } from './connection.ts';
import {
  startCollectionWorkflow,
  startDeliveryWorkflow,
  startReversalWorkflow,
  signalPayoutWorkflow,
  workflowIdOfCollection,
  workflowIdOfPayout,
  type CollectionToStart,
  type DeliveryToStart,
  type PayoutToStart,
  type ReversalToStart,
  type StartOptions,
} from './workflow-starts.ts';

export type TemporalOptions = TemporalConnectionOptions & StartOptions;

/** What operators call back about. */
export type CalledBack =
  | { readonly noun: 'collection'; readonly work: CollectionToStart }
  | { readonly noun: 'payout'; readonly work: PayoutToStart }
  | { readonly noun: 'reversal'; readonly work: ReversalToStart };

export type TemporalClient = Pick<TemporalConnection, 'whenConnected' | 'isConnected' | 'close'> & {
  /** Whether the server answers now. */
  ping(): Promise<boolean>;
  /** True when a workflow runs for it now, by this call or an earlier one; false when Temporal is away. */
  startCollection(collection: CollectionToStart): Promise<boolean>;
  startDelivery(delivery: DeliveryToStart): Promise<boolean>;
  startReversal(reversal: ReversalToStart): Promise<boolean>;
  /**
   * Tells the payout's workflow to look at what is recorded, and starts it if it is not open. True when that is done,
   * false when Temporal is away.
   */
  signalPayout(payout: PayoutToStart): Promise<boolean>;
  /** `closed`: there is no open workflow to tell. */
  signalOperatorCalledBack(calledBack: CalledBack): Promise<'told' | 'closed' | 'away'>;
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

    startReversal: (reversal) => start((client) => startReversalWorkflow(client, reversal, options)),
    signalPayout: (payout) => start((client) => signalPayoutWorkflow(client, payout, options)),

    async signalOperatorCalledBack(calledBack) {
      const workflowId = workflowIdOf(calledBack);
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

function workflowIdOf({ noun, work }: CalledBack): string {
  switch (noun) {
    case 'collection':
      return workflowIdOfCollection(work);
    case 'payout':
      return workflowIdOfPayout(work);
    case 'reversal':
      return reversalWorkflowId(work.id);
  }
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

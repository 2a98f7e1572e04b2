// The Temporal client: one connection that client and worker share, and the calls that we make on it.
import {
  type Client,
  ScheduleAlreadyRunning,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { OpenRun, PaymentWork, Work } from '../domain/work.ts';
import {
  LEDGER_CHECK_WORKFLOW,
  ledgerCheckScheduleId,
  OPERATOR_CALLED_BACK,
  DECISION_RECORDED,
  RECONCILIATION_WORKFLOW,
  reconciliationScheduleId,
  reconciliationTaskQueue,
} from '../../workflows/contract.ts';
import { connectTemporal, type TemporalConnection, type TemporalConnectionOptions } from './connection.ts';
import { inspectRun } from './run-inspection.ts';
import {
  rechecksStartOf,
  workflowIdOf,
  workflowStartOf,
  type StartOptions,
  type WorkflowStart,
} from './workflow-starts.ts';

export type TemporalOptions = TemporalConnectionOptions & StartOptions;

export type TemporalClient = Pick<TemporalConnection, 'whenConnected' | 'isConnected' | 'close'> & {
  /** Whether the server responds now. */
  ping(): Promise<boolean>;
  /**
   * Starts the workflow for this work. The open workflow of a payout or refund is signalled to load the recorded decision, in the same
   * call, so no decision is lost between the two. `started` says that a workflow runs for the work, started or signalled by
   * this call; `open` that one ran before; `away` that Temporal is. Throws when Temporal refuses this work.
   */
  start(work: Work): Promise<'started' | 'open' | 'away'>;
  /** Starts the workflow that rechecks final payments of the operator; `open` says that one runs. */
  startRechecks(operator: OperatorId): Promise<'started' | 'open' | 'away'>;
  /** Signals the payment's open workflow that the operator called back; `closed` when there is none. */
  signalCallback(payment: PaymentWork): Promise<'signalled' | 'closed' | 'away'>;
  /** The open run of the work's workflow; `closed` when there is none. */
  inspect(work: Work): Promise<OpenRun | 'closed' | 'away'>;
  /** Ends this run at once, unless it is closed already. */
  terminate(work: Work, runId: string, reason: string): Promise<'closed' | 'away'>;
  /** Creates the schedules of the sweep and of the ledger check, or brings their intervals up to date. */
  ensureSchedules(intervals: ScheduleIntervals): Promise<void>;
};

export type ScheduleIntervals = {
  readonly sweepEveryMs: number;
  readonly sweepTimeoutMs: number;
  readonly ledgerCheckEveryMs: number;
  readonly ledgerCheckTimeoutMs: number;
};

// A readiness probe must respond soon.
const PING_TIMEOUT_MS = 1000;

export function createTemporalClient(options: TemporalOptions): TemporalClient {
  const temporal = connectTemporal(options);

  const startAlone = ({ workflowType, options: start }: WorkflowStart) =>
    orOpen(
      temporal.call(async ({ workflow }) => {
        await workflow.start(workflowType, { ...start, workflowIdConflictPolicy: 'FAIL' });
        return 'started' as const;
      }),
    );

  return {
    whenConnected: () => temporal.whenConnected(),
    isConnected: () => temporal.isConnected(),
    close: () => temporal.close(),

    async ping() {
      const info = await temporal.call(
        (client) => client.connection.workflowService.getSystemInfo({}),
        PING_TIMEOUT_MS,
      );
      return info !== 'away';
    },

    start: (work) => {
      const { workflowType, options: start } = workflowStartOf(work, options);
      if (work.kind !== 'payout' && work.kind !== 'reversal') return startAlone({ workflowType, options: start });
      return orOpen(
        temporal.call(async ({ workflow }) => {
          await workflow.signalWithStart(workflowType, { ...start, signal: DECISION_RECORDED });
          return 'started' as const;
        }),
      );
    },

    startRechecks: (operator) => startAlone(rechecksStartOf(operator, options)),

    signalCallback: (payment) =>
      orClosed(
        temporal.call(async (client) => {
          await client.workflow.getHandle(workflowIdOf(payment)).signal(OPERATOR_CALLED_BACK);
          return 'signalled' as const;
        }),
      ),

    inspect: (work) => orClosed(temporal.call((client) => inspectRun(client, workflowIdOf(work)))),

    terminate: (work, runId, reason) =>
      orClosed(
        temporal.call(async (client) => {
          await client.workflow.getHandle(workflowIdOf(work), runId).terminate(reason);
          return 'closed' as const;
        }),
      ),

    async ensureSchedules(intervals) {
      await temporal.whenConnected();
      for (const schedule of schedulesFor(options.taskQueuePrefix, intervals)) {
        const created = await temporal.call((client) => ensureSchedule(client, schedule));
        if (created === 'away') throw new Error(`Temporal went away before ${schedule.scheduleId} was created`);
      }
    },
  };
}

// Temporal finds an open run of the workflow.
async function orOpen<Result>(called: Promise<Result>): Promise<Result | 'open'> {
  try {
    return await called;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'open';
    throw error;
  }
}

// Temporal finds no open run of the workflow.
async function orClosed<Result>(called: Promise<Result>): Promise<Result | 'closed'> {
  try {
    return await called;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'closed';
    throw error;
  }
}

type Schedule = {
  readonly scheduleId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly everyMs: number;
  /** An open run keeps the next one from starting: one that cannot progress must not do so for ever. */
  readonly timeoutMs: number;
};

function schedulesFor(prefix: string, intervals: ScheduleIntervals): Schedule[] {
  const taskQueue = reconciliationTaskQueue(prefix);
  return [
    {
      scheduleId: reconciliationScheduleId(prefix),
      workflowType: RECONCILIATION_WORKFLOW,
      taskQueue,
      everyMs: intervals.sweepEveryMs,
      timeoutMs: intervals.sweepTimeoutMs,
    },
    {
      scheduleId: ledgerCheckScheduleId(prefix),
      workflowType: LEDGER_CHECK_WORKFLOW,
      taskQueue,
      everyMs: intervals.ledgerCheckEveryMs,
      timeoutMs: intervals.ledgerCheckTimeoutMs,
    },
  ];
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  const { scheduleId, workflowType, taskQueue, everyMs, timeoutMs } = schedule;
  const spec = { intervals: [{ every: everyMs }] };
  const action = { type: 'startWorkflow', workflowType, taskQueue, workflowExecutionTimeout: timeoutMs } as const;
  try {
    await client.schedule.create({
      scheduleId,
      spec,
      action,
      // No second run starts while one is open, and a missed run is not made up for.
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

// The Temporal client: one connection that client and worker share, and the calls that we make on it.
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { OpenRun, PaymentWork, Work } from '../domain/work.ts';
import { OPERATOR_CALLED_BACK, PAYMENT_CHANGED } from '../../workflows/contract.ts';
import { connectTemporal, type TemporalConnection, type TemporalConnectionOptions } from './connection.ts';
import { ensureSchedule, restoreSchedule, schedulesFor, type Schedule, type ScheduleIntervals } from './schedules.ts';
import { isFinal } from '../domain/payments/payment.ts';
import { workflowIdOf, workflowStartOf, type StartOptions, type WorkflowStart } from './workflow-starts.ts';

export type TemporalOptions = TemporalConnectionOptions & StartOptions;

export type TemporalClient = Pick<TemporalConnection, 'whenConnected' | 'isConnected' | 'close'> & {
  /** Whether the server responds now. */
  ping(): Promise<boolean>;
  /**
   * Starts the workflow for this work. An open workflow of a payment is signalled that the payment changed, in the same call, so no
   * change is lost between the two; that of a final payment is signalled only, and none is started. `started` says that no more is to
   * be done: a workflow runs for the work, started or signalled by this call, or none is needed; `open` that one ran before; `away` that
   * Temporal is. Throws when Temporal refuses this work.
   */
  start(work: Work): Promise<'started' | 'open' | 'away'>;
  /** Signals the payment's open workflow that the operator called back; `closed` when there is none. */
  signalCallback(payment: PaymentWork): Promise<'signalled' | 'closed' | 'away'>;
  /** The open run of the work's workflow; `closed` when there is none. */
  inspect(work: Work): Promise<OpenRun | 'closed' | 'away'>;
  /** Ends this run at once, unless it is closed already. */
  terminate(work: Work, runId: string, reason: string): Promise<'closed' | 'away'>;
  /** What the namespace keeps under this name; null: nothing. */
  readNamespaceText(name: string): Promise<{ readonly text: string | null } | 'away'>;
  /** Keeps the text in the namespace under this name, beside the others. */
  writeNamespaceText(name: string, text: string): Promise<'kept' | 'away'>;
  /** Creates the schedules of the sweep and of the ledger check, or brings them up to date, and has them run. */
  ensureSchedules(intervals: ScheduleIntervals): Promise<void>;
  /** Creates again what of them is gone, and has them run again; leaves the intervals of those that are there. */
  restoreSchedules(intervals: ScheduleIntervals): Promise<void>;
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

  const signal = (payment: PaymentWork, name: string) =>
    orClosed(
      temporal.call(async (client) => {
        await client.workflow.getHandle(workflowIdOf(payment)).signal(name);
        return 'signalled' as const;
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
      // Nothing has changed since a collection was recorded, and a start alone may be eager.
      if (work.kind === 'delivery' || work.state === 'initiated') return startAlone({ workflowType, options: start });
      if (isFinal(work.state)) return orStarted(signal(work, PAYMENT_CHANGED));
      return orOpen(
        temporal.call(async ({ workflow }) => {
          await workflow.signalWithStart(workflowType, { ...start, signal: PAYMENT_CHANGED });
          return 'started' as const;
        }),
      );
    },

    signalCallback: (payment) => signal(payment, OPERATOR_CALLED_BACK),

    inspect: (work) => orClosed(temporal.call((client) => inspectRun(client, workflowIdOf(work)))),

    terminate: (work, runId, reason) =>
      orClosed(
        temporal.call(async (client) => {
          await client.workflow.getHandle(workflowIdOf(work), runId).terminate(reason);
          return 'closed' as const;
        }),
      ),

    ...namespaceTexts(temporal),

    ensureSchedules: (intervals) => forEach(schedulesFor(options.taskQueuePrefix, intervals), temporal, ensureSchedule),

    restoreSchedules: (intervals) =>
      forEach(schedulesFor(options.taskQueuePrefix, intervals), temporal, (client, schedule) =>
        restoreSchedule(client, schedule, options.log),
      ),
  };
}

function namespaceTexts(
  temporal: TemporalConnection,
): Pick<TemporalClient, 'readNamespaceText' | 'writeNamespaceText'> {
  return {
    readNamespaceText: (name) =>
      temporal.call(async ({ connection, options: { namespace } }) => {
        const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
        return { text: namespaceInfo?.data?.[name] ?? null };
      }),
    writeNamespaceText: (name, text) =>
      temporal.call(async ({ connection, options: { namespace } }) => {
        // Temporal merges the texts with those that it has.
        await connection.workflowService.updateNamespace({ namespace, updateInfo: { data: { [name]: text } } });
        return 'kept' as const;
      }),
  };
}

async function forEach(
  schedules: readonly Schedule[],
  temporal: TemporalConnection,
  work: (client: Client, schedule: Schedule) => Promise<void>,
): Promise<void> {
  await temporal.whenConnected();
  for (const schedule of schedules) {
    const done = await temporal.call((client) => work(client, schedule));
    if (done === 'away') throw new Error(`Temporal became unavailable while ${schedule.scheduleId} was checked`);
  }
}

// Temporal finds an open run of the workflow.
function orOpen<Result>(called: Promise<Result>): Promise<Result | 'open'> {
  return orOutcome(called, WorkflowExecutionAlreadyStartedError, 'open');
}

// Temporal finds no open run of the workflow.
function orClosed<Result>(called: Promise<Result>): Promise<Result | 'closed'> {
  return orOutcome(called, WorkflowNotFoundError, 'closed');
}

/** An error of this class means the outcome; every other error is thrown. */
async function orOutcome<Result, const Outcome extends string>(
  called: Promise<Result>,
  ErrorClass: new (...values: never[]) => Error,
  outcome: Outcome,
): Promise<Result | Outcome> {
  try {
    return await called;
  } catch (error) {
    if (error instanceof ErrorClass) return outcome;
    throw error;
  }
}

/** No workflow need run for a final payment: one that still does has been told to end. */
async function orStarted(signalled: Promise<'signalled' | 'closed' | 'away'>): Promise<'started' | 'away'> {
  return (await signalled) === 'away' ? 'away' : 'started';
}

/** Looks at an open run: whether its workflow task fails, and since when it has waited without any event. Throws `WorkflowNotFoundError` when Temporal does not know the workflow. */
async function inspectRun(client: Client, workflowId: string): Promise<OpenRun | 'closed'> {
  const { raw, runId, status } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING') return 'closed';
  const taskAttempt = raw.pendingWorkflowTask?.attempt ?? 0;
  const isWaitingForOthers = taskAttempt > 0 || (raw.pendingActivities ?? []).length > 0;
  const quietSince = isWaitingForOthers ? null : await lastEventAt(client, workflowId, runId);
  return { runId, taskAttempt, quietSince };
}

async function lastEventAt(client: Client, workflowId: string, runId: string): Promise<Date | null> {
  const { history } = await client.connection.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const seconds = history?.events?.[0]?.eventTime?.seconds;
  return seconds ? new Date(Number(seconds) * 1000) : null;
}

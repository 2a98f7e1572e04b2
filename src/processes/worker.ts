// Runs Temporal workers: one per operator, one for deliveries, one for the sweep, each with its own queue and bounds.
import type { NativeConnection } from '@temporalio/worker';
import {
  Runtime,
  Worker,
  type WorkerInterceptors,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { Log } from '../log.ts';
import { deliveryTaskQueue, operatorTaskQueue, reconciliationTaskQueue } from '../../workflows/contract.ts';

export type WorkerSettings = {
  readonly namespace: string;
  readonly taskQueuePrefix: string;
  readonly workflowBundle: WorkflowBundleOption;
  readonly maxCachedWorkflows: number;
  /** Longer than the longest activity, so that a stop loses none. */
  readonly shutdownGraceMs: number;
  /** How long a cached workflow's task waits for the worker that has it before any may take it. */
  readonly stickyTimeoutMs: number;
  readonly activities: {
    readonly payments: object;
    readonly delivery: object;
    readonly reconciliation: object;
  };
  readonly operators: readonly OperatorId[];
  readonly maxDeliveriesInFlight: number;
  /** What observes every activity and workflow: tracing, or tests that end the process between two steps. */
  readonly interceptors?: WorkerInterceptors;
  readonly log: Log;
};

export type RunningWorkers = { stop(): Promise<void> };

const RESTART_AFTER_MS = 1000;

/** Starts them all; one that fails is made anew after a second, for as long as it is not stopped. */
export function runWorkers(connection: NativeConnection, settings: WorkerSettings): RunningWorkers {
  const { taskQueuePrefix: prefix, activities } = settings;
  const queues: Partial<WorkerOptions>[] = [
    ...settings.operators.map((operator) => ({
      taskQueue: operatorTaskQueue(prefix, operator),
      activities: activities.payments,
      maxCachedWorkflows: settings.maxCachedWorkflows,
      maxConcurrentActivityTaskExecutions: 100,
      maxConcurrentLocalActivityExecutions: 50,
    })),
    {
      taskQueue: deliveryTaskQueue(prefix),
      activities: activities.delivery,
      maxCachedWorkflows: Math.ceil(settings.maxCachedWorkflows / 4),
      maxConcurrentActivityTaskExecutions: settings.maxDeliveriesInFlight,
    },
    {
      taskQueue: reconciliationTaskQueue(prefix),
      activities: activities.reconciliation,
      maxCachedWorkflows: 2,
      maxConcurrentActivityTaskExecutions: 2,
    },
  ];
  const supervised = queues.map((queue) => supervise(connection, queue, settings));
  return {
    async stop() {
      await Promise.all(supervised.map((worker) => worker.stop()));
    },
  };
}

/** Sends the SDK's own log lines to ours. Once per process, before any connection. */
export function installRuntime(log: Log): void {
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => {
        write(log, level, message, meta);
      },
      trace: (message, meta) => {
        write(log, 'TRACE', message, meta);
      },
      debug: (message, meta) => {
        write(log, 'DEBUG', message, meta);
      },
      info: (message, meta) => {
        write(log, 'INFO', message, meta);
      },
      warn: (message, meta) => {
        write(log, 'WARN', message, meta);
      },
      error: (message, meta) => {
        write(log, 'ERROR', message, meta);
      },
    },
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
  });
}

function write(log: Log, level: string, message: string, meta: object | undefined): void {
  // The SDK's "info" is about its own steps: detail to us.
  const details: Record<string, unknown> = { ...meta };
  // Long, and of use to nobody who reads.
  delete details['taskToken'];
  if (level === 'ERROR') log.error(details, message);
  else if (level === 'WARN') log.warn(details, message);
  else log.debug(details, message);
}

function supervise(connection: NativeConnection, queue: Partial<WorkerOptions>, settings: WorkerSettings) {
  const stopping = new AbortController();
  const stopAsked = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const finished = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const worker = await Worker.create(optionsFor(connection, queue, settings));
        // Also when the stop came meanwhile: a worker that was made and never ran keeps hold of the connection.
        await worker.runUntil(stopAsked);
      } catch (error) {
        settings.log.error({ error, taskQueue: queue.taskQueue }, 'a worker failed and is started again');
        await new Promise((resolve) => setTimeout(resolve, RESTART_AFTER_MS));
      }
    }
  }

  return {
    async stop() {
      stopping.abort();
      await finished;
    },
  };
}

function optionsFor(
  connection: NativeConnection,
  queue: Partial<WorkerOptions>,
  settings: WorkerSettings,
): WorkerOptions {
  return {
    taskQueue: '',
    connection,
    namespace: settings.namespace,
    workflowBundle: settings.workflowBundle,
    shutdownGraceTime: settings.shutdownGraceMs,
    stickyQueueScheduleToStartTimeout: settings.stickyTimeoutMs,
    // More pollers cost the server more than they bring on a few cores.
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 3 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    ...(settings.interceptors && { interceptors: settings.interceptors }),
    ...queue,
  };
}

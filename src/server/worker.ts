// Runs Temporal workers: one per operator, one for deliveries, one for the sweep, each with its own queue and bounds.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeConnection } from '@temporalio/worker';
import {
  MetricsBuffer,
  Runtime,
  type Worker,
  type InjectedSinks,
  type WorkerInterceptors,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { isError, type Log } from '../log.ts';
import { UnwatchedWorker } from './unwatched-worker.ts';
import { createSdkMetrics, type SdkMetrics } from './metrics/sdk-metrics.ts';
import type { Stoppable } from './server-parts.ts';
import {
  DEAD_LETTERED,
  DELIVERY_WORKFLOW,
  deliveryTaskQueue,
  operatorTaskQueue,
  reconciliationTaskQueue,
  type TraceSinks,
} from '../../workflows/contract.ts';

export type WorkerSettings = {
  readonly namespace: string;
  readonly taskQueuePrefix: string;
  readonly workflowBundle: WorkflowBundleOption;
  readonly maxCachedWorkflows: number;
  /** Longer than the longest activity, so that a stop interrupts none. */
  readonly shutdownGraceMs: number;
  /** How long a task of a cached workflow waits for the worker that caches it before any worker may take it. */
  readonly stickyTimeoutMs: number;
  readonly activities: {
    readonly payments: object;
    readonly delivery: object;
    readonly reconciliation: object;
  };
  readonly maxDeliveriesInFlight: number;
  /** They observe every activity and workflow: for tracing, or for tests that end the process between two steps. */
  readonly interceptors?: WorkerInterceptors;
  /** Where the interceptors of the workflow bundle report. */
  readonly sinks: InjectedSinks<TraceSinks>;
  readonly log: Log;
};

const RESTART_AFTER_MS = 1000;
const LOOK_EVERY_MS = 1000;

type RunningWorkers = Stoppable & {
  /** Starts the workers of these operators, unless they run. */
  serve(operators: readonly OperatorId[]): void;
};

/** Starts the workers besides those of operators. A worker that fails is created again after a second, until the workers are stopped. */
export function runWorkers(connection: NativeConnection, settings: WorkerSettings): RunningWorkers {
  const { taskQueuePrefix: prefix, activities } = settings;
  const served = new Set<OperatorId>();
  let isStopped = false;
  const queues: Partial<WorkerOptions>[] = [
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
    serve(operators) {
      for (const operator of operators.filter((each) => !served.has(each) && !isStopped)) {
        served.add(operator);
        const queue = {
          taskQueue: operatorTaskQueue(prefix, operator),
          activities: activities.payments,
          maxCachedWorkflows: settings.maxCachedWorkflows,
          maxConcurrentActivityTaskExecutions: 100,
          maxConcurrentLocalActivityExecutions: 50,
        };
        supervised.push(supervise(connection, queue, settings));
      }
    },
    async stop() {
      isStopped = true;
      await Promise.all(supervised.map((worker) => worker.stop()));
    },
  };
}

/** The SDK drops measurements beyond this number: many seconds of the busiest worker. */
const BUFFERED_METRICS = 200_000;
const DRAIN_METRICS_EVERY_MS = 1000;

/** Sends the SDK's lines to our log and its figures to the returned metrics. Call it once, before any connection. */
export function installRuntime(log: Log): SdkMetrics {
  const buffer = new MetricsBuffer({ maxBufferSize: BUFFERED_METRICS, useSecondsForDurations: true });
  const at = (level: string) => (message: string, meta?: object) => {
    write(log, level, message, meta);
  };
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => {
        write(log, level, message, meta);
      },
      trace: at('TRACE'),
      debug: at('DEBUG'),
      info: at('INFO'),
      warn: at('WARN'),
      error: at('ERROR'),
    },
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} }, metrics: { buffer } },
  });
  const metrics = createSdkMetrics(() => buffer.retrieveUpdates());
  setInterval(() => {
    metrics.drain();
  }, DRAIN_METRICS_EVERY_MS).unref();
  return metrics;
}

function write(log: Log, level: string, message: string, meta: object | undefined): void {
  // The SDK's "info" describes its own steps, which are details for us.
  const details: Record<string, unknown> = { ...meta };
  // Long and useless for a reader.
  delete details['taskToken'];
  if (level === 'ERROR') log.error(details, message);
  else if (level === 'WARN' && !isDeadLetter(details)) log.warn(details, message);
  else log.debug(details, message);
}

// The SDK warns of every failed run. The last attempt of a delivery is logged like every attempt.
function isDeadLetter({ workflowType, error }: Readonly<Record<string, unknown>>): boolean {
  return workflowType === DELIVERY_WORKFLOW && isError(error) && error.message.startsWith(DEAD_LETTERED);
}

function supervise(connection: NativeConnection, queue: Partial<WorkerOptions>, settings: WorkerSettings) {
  const stopping = new AbortController();
  const stopRequested = once(stopping.signal, 'abort');
  const finished = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const ended = new AbortController();
      try {
        const worker = await UnwatchedWorker.create(optionsFor(connection, queue, settings));
        // Runs the worker even after a stop: a worker that was created and never ran keeps the connection in use.
        const doesNotEnd = untilHung(worker, settings.shutdownGraceMs, ended.signal);
        await Promise.race([worker.runUntil(stopRequested), doesNotEnd]);
      } catch (error) {
        settings.log.error({ error, taskQueue: queue.taskQueue }, 'a worker failed and is started again');
        await sleep(RESTART_AFTER_MS);
      } finally {
        ended.abort();
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

/**
 * Rejects if the worker failed and has not ended since. The SDK has been seen to wait for ever for a worker whose polls
 * Temporal had refused, so that its queue had no worker.
 */
async function untilHung(worker: Worker, graceMs: number, signal: AbortSignal): Promise<never> {
  while (worker.getState() !== 'FAILED') await sleep(LOOK_EVERY_MS, undefined, { ref: false, signal });
  await sleep(graceMs, undefined, { ref: false, signal });
  throw new Error('the worker failed, and does not stop');
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
    // The progress in a heartbeat is at most this old when another worker continues from it.
    maxHeartbeatThrottleInterval: '5s',
    // On a few cores, more pollers cost the server more than they gain.
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: 3 },
    activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
    sinks: settings.sinks,
    ...(settings.interceptors && { interceptors: settings.interceptors }),
    ...queue,
  };
}

// A look at a Temporal cluster, for the doctor of the staff: what a server of ours needs of it. It changes nothing.
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import { deliveryTaskQueue, operatorTaskQueue, reconciliationTaskQueue } from '../../workflows/contract.ts';
import { within } from './connection.ts';
import { findStandstill, schedulesFor, type ScheduleIntervals } from './schedules.ts';
import { DAY_S, findMissingSearchAttributes, hasCode, NOT_FOUND } from './setup.ts';
import type { TemporalTarget } from './transport.ts';

export type TemporalLook = {
  /** In days; null when there is no such namespace. */
  retention(): Promise<number | null>;
  missingSearchAttributes(): Promise<string[]>;
  /** The schedules that do not start what they should, each with the reason. */
  stillSchedules(intervals: ScheduleIntervals): Promise<{ readonly scheduleId: string; readonly why: string }[]>;
  /** The task queues for which no worker has asked within `silenceMs`: a worker asks once a minute at least. */
  idleQueues(operators: readonly OperatorId[], silenceMs: number): Promise<string[]>;
};

export type LookOptions = {
  readonly target: TemporalTarget;
  readonly namespace: string;
  readonly taskQueuePrefix: string;
  readonly timeoutMs: number;
};

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** Connects for as long as `work` takes. Throws when the cluster does not answer in time. */
export async function withTemporalLook<Result>(
  { target, namespace, taskQueuePrefix: prefix, timeoutMs }: LookOptions,
  work: (look: TemporalLook) => Promise<Result>,
): Promise<Result> {
  const connection = await connectWithin(target, timeoutMs);
  const client = new Client({ connection, namespace });
  const within = <Value>(call: () => Promise<Value>) => connection.withDeadline(Date.now() + timeoutMs, call);
  try {
    return await work({
      retention: () => within(() => findRetention(connection, namespace)),
      missingSearchAttributes: () =>
        within(async () => (await findMissingSearchAttributes(connection, namespace)).map(({ name }) => name)),
      stillSchedules: (intervals) =>
        within(async () => {
          const looks = schedulesFor(prefix, intervals).map(async (schedule) => ({
            scheduleId: schedule.scheduleId,
            why: await findStandstill(client, schedule),
          }));
          return (await Promise.all(looks)).flatMap(({ scheduleId, why }) =>
            why === null ? [] : [{ scheduleId, why }],
          );
        }),
      idleQueues: (operators, silenceMs) =>
        within(async () => {
          const queues = [
            ...operators.map((operator) => operatorTaskQueue(prefix, operator)),
            deliveryTaskQueue(prefix),
            reconciliationTaskQueue(prefix),
          ];
          const busy = await Promise.all(queues.map((queue) => isPolled(connection, { namespace, queue, silenceMs })));
          return queues.filter((_queue, index) => busy[index] !== true);
        }),
    });
  } finally {
    await connection.close();
  }
}

async function connectWithin(target: TemporalTarget, timeoutMs: number): Promise<NativeConnection> {
  const connecting = NativeConnection.connect(target);
  try {
    return await within(timeoutMs, connecting, `no answer within ${timeoutMs / 1000} s`);
  } catch (error) {
    // A connection that succeeds after the timeout is closed: nobody waits for it any more.
    connecting.then((connection) => connection.close()).catch(() => undefined);
    throw error;
  }
}

async function findRetention(connection: NativeConnection, namespace: string): Promise<number | null> {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
  } catch (error) {
    if (hasCode(error, NOT_FOUND)) return null;
    throw error;
  }
}

async function isPolled(
  connection: NativeConnection,
  { namespace, queue, silenceMs }: { namespace: string; queue: string; silenceMs: number },
): Promise<boolean> {
  for (const taskQueueType of [TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY]) {
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      taskQueueType,
    });
    const times = pollers.map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000);
    if (Math.max(0, ...times) < Date.now() - silenceMs) return false;
  }
  return true;
}

// What somebody does who holds Temporal and nothing else: complete our activities by hand, run them from a workflow of their own,
// take our tasks with a worker of their own, set a workflow back, and hold up what runs.
import { randomUUID } from 'node:crypto';
import type { Client, Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { eventually } from './test-environment.ts';

// temporal.api.enums.v1.CommandType
const SCHEDULE_ACTIVITY_TASK = 1 as never;
const COMPLETE_WORKFLOW_EXECUTION = 4 as never;
// temporal.api.enums.v1.PendingActivityState
const ACTIVITY_SCHEDULED = 1 as never;
const ACTIVITY_PAUSED = 4 as never;
const PATIENCE_MS = 60_000;
const POLL_MS = 3000;

type ActivityOptions = temporal.api.activity.v1.IActivityOptions;

/** The result of an activity, or the type of its failure. */
type RunActivity = { readonly result: unknown } | { readonly failure: string };

export type TemporalHolder = {
  /** Completes the open activity of this type with a result that nobody computed. */
  complete(workflowId: string, activityType: string, result: unknown): Promise<void>;
  /** Fails it. */
  fail(workflowId: string, activityType: string): Promise<void>;
  /** Runs one of our activities, by our own workers, from a workflow of no code of ours. */
  run(taskQueue: string, activityType: string, argument: unknown): Promise<RunActivity>;
  /** Runs one without any workflow, and returns its result. */
  runAlone(taskQueue: string, activityType: string, argument: unknown): Promise<unknown>;
  /** Takes the next workflow task of the queue, and says that its workflow is complete. Returns the workflow’s id. */
  takeTask(taskQueue: string): Promise<string>;
  /** Polls the queue for a short time with a worker of this version. */
  pollAs(taskQueue: string, version: { readonly deploymentName: string; readonly buildId: string }): Promise<void>;
  /** Sets the workflow back to its start; returns the id of the run that begins there. */
  reset(workflowId: string): Promise<string>;
  /** Pauses the activities of this type, and waits until none of their tries runs. */
  pause(workflowId: string, activityType: string): Promise<void>;
  unpause(workflowId: string, activityType: string): Promise<void>;
  /** Has their tries begin again with the first one, which is due at once, also if they are paused. */
  resetTries(workflowId: string, activityType: string): Promise<void>;
  /** Changes those of their options that are at `paths`. */
  changeOptions(
    workflowId: string,
    activityType: string,
    changes: { readonly options: ActivityOptions; readonly paths: string[] },
  ): Promise<void>;
  restoreOptions(workflowId: string, activityType: string): Promise<void>;
  /** Waits until it is open and no try of it runs; from then on only new tries can. */
  untilNoneRuns(workflowId: string, activityType: string): Promise<void>;
};

export function temporalHolder(client: Client, connection: Connection): TemporalHolder {
  const { workflowService: service } = connection;
  const { namespace } = client.options;
  const own = { namespace, identity: 'holder of Temporal' };

  const activitiesOf = (workflowId: string, type: string) => ({ ...own, execution: { workflowId }, type });

  async function untilNoneRuns(workflowId: string, type: string): Promise<void> {
    const isWaiting = async () => {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const open = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
      return open?.state === ACTIVITY_SCHEDULED || open?.state === ACTIVITY_PAUSED;
    };
    await eventually(`${type} of ${workflowId} to wait`, isWaiting, PATIENCE_MS);
  }

  /** Calls `end` with the id of the open activity, until that succeeds. */
  async function endActivity(
    workflowId: string,
    type: string,
    end: (activityId: string) => Promise<void>,
  ): Promise<void> {
    const handle = client.workflow.getHandle(workflowId);
    const tryIt = async () => {
      const description = await handle.describe().catch(() => null);
      const open = description?.raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
      if (typeof open?.activityId !== 'string') return false;
      return end(open.activityId).then(
        () => true,
        () => false,
      );
    };
    await eventually(`${type} of ${workflowId} to be ended by hand`, tryIt, PATIENCE_MS);
  }

  async function nextTask(taskQueue: string) {
    const task = await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      service.pollWorkflowTaskQueue({ ...own, taskQueue: { name: taskQueue } }),
    );
    return { taskToken: task.taskToken, workflowId: String(task.workflowExecution?.workflowId) };
  }

  return {
    complete: (workflowId, type, result) =>
      endActivity(workflowId, type, (activityId) => client.activity.complete({ workflowId, activityId }, result)),

    fail: (workflowId, type) =>
      endActivity(workflowId, type, (activityId) =>
        client.activity.fail({ workflowId, activityId }, new Error('failed by hand')),
      ),

    async run(taskQueue, activityType, argument) {
      const name = `holder-${randomUUID()}`;
      const handle = await client.workflow.start('holderWorkflow', { workflowId: name, taskQueue: name });
      const { taskToken } = await nextTask(name);
      const schedule = {
        activityId: '1',
        activityType: { name: activityType },
        taskQueue: { name: taskQueue },
        input: { payloads: [defaultPayloadConverter.toPayload(argument)] },
        startToCloseTimeout: msToTs(PATIENCE_MS),
        retryPolicy: { maximumAttempts: 1 },
      };
      await service.respondWorkflowTaskCompleted({
        ...own,
        taskToken,
        commands: [
          {
            commandType: SCHEDULE_ACTIVITY_TASK,
            scheduleActivityTaskCommandAttributes: schedule,
          },
        ],
      });
      const ended = await eventually(
        `${activityType} to end`,
        async () => {
          const { events } = await handle.fetchHistory();
          return events?.find(
            (event) => event.activityTaskCompletedEventAttributes ?? event.activityTaskFailedEventAttributes,
          );
        },
        PATIENCE_MS,
      );
      await handle.terminate();
      const failure = ended.activityTaskFailedEventAttributes?.failure;
      if (failure) return { failure: failure.applicationFailureInfo?.type ?? 'unknown' };
      const [payload] = ended.activityTaskCompletedEventAttributes?.result?.payloads ?? [];
      return { result: payload ? defaultPayloadConverter.fromPayload(payload) : undefined };
    },

    async runAlone(taskQueue, activityType, argument) {
      const activityId = `holder-${randomUUID()}`;
      const { runId } = await service.startActivityExecution({
        ...own,
        requestId: activityId,
        activityId,
        activityType: { name: activityType },
        taskQueue: { name: taskQueue },
        input: { payloads: [defaultPayloadConverter.toPayload(argument)] },
        startToCloseTimeout: msToTs(PATIENCE_MS),
      });
      const { outcome } = await eventually(
        `${activityType} to end`,
        async () => {
          const polled = await service.pollActivityExecution({ namespace, activityId, runId });
          return polled.outcome && polled;
        },
        PATIENCE_MS,
      );
      const [payload] = outcome?.result?.payloads ?? [];
      return payload ? defaultPayloadConverter.fromPayload(payload) : outcome?.failure?.message;
    },

    async takeTask(taskQueue) {
      const { taskToken, workflowId } = await nextTask(taskQueue);
      await service.respondWorkflowTaskCompleted({
        ...own,
        taskToken,
        commands: [{ commandType: COMPLETE_WORKFLOW_EXECUTION, completeWorkflowExecutionCommandAttributes: {} }],
      });
      return workflowId;
    },

    async pollAs(taskQueue, version) {
      const poll = {
        ...own,
        taskQueue: { name: taskQueue },
        deploymentOptions: { ...version, workerVersioningMode: 2 },
      };
      await connection
        .withDeadline(Date.now() + POLL_MS, () => service.pollWorkflowTaskQueue(poll))
        .catch(() => undefined);
    },

    async reset(workflowId) {
      const handle = client.workflow.getHandle(workflowId);
      const { runId } = await handle.describe();
      const { events } = await handle.fetchHistory();
      const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
      const { runId: newRunId } = await service.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, runId },
        workflowTaskFinishEventId: first?.eventId ?? null,
        requestId: randomUUID(),
        reason: 'for a test',
      });
      return newRunId;
    },

    async pause(workflowId, type) {
      await service.pauseActivity({ ...activitiesOf(workflowId, type), reason: 'for a test' });
      await untilNoneRuns(workflowId, type);
    },

    async unpause(workflowId, type) {
      await service.unpauseActivity(activitiesOf(workflowId, type));
    },

    async resetTries(workflowId, type) {
      await service.resetActivity(activitiesOf(workflowId, type));
    },

    async changeOptions(workflowId, type, { options, paths }) {
      const changes = { activityOptions: options, updateMask: { paths } };
      await service.updateActivityOptions({ ...activitiesOf(workflowId, type), ...changes });
    },

    async restoreOptions(workflowId, type) {
      await service.updateActivityOptions({ ...activitiesOf(workflowId, type), restoreOriginal: true });
    },

    untilNoneRuns,
  };
}

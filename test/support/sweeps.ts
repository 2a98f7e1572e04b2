// Triggers scheduled workflows at once instead of waiting for their time.
import type { ScheduleHandle, WorkflowHandle } from '@temporalio/client';
import { reconciliationScheduleId } from '../../workflows/contract.ts';
import { temporalClient } from './engines.ts';
import { eventually, type TestEnvironment } from './test-environment.ts';

export async function scheduleOf(
  { config }: TestEnvironment,
  idFor = reconciliationScheduleId,
): Promise<ScheduleHandle> {
  const client = await temporalClient();
  return client.schedule.getHandle(idFor(config.settings.MALIPO_TASK_QUEUE_PREFIX));
}

/** Starts one sweep, or the workflow of another schedule, at once. */
export async function startSweep(testEnv: TestEnvironment, idFor = reconciliationScheduleId): Promise<WorkflowHandle> {
  const client = await temporalClient();
  const schedule = await scheduleOf(testEnv, idFor);
  // A server creates the schedules soon after its start, and while a run is open no other begins.
  const { info } = await eventually('the schedule, without an open run', async () => {
    const found = await schedule.describe().catch(() => null);
    return found?.info.runningActions.length === 0 && found;
  });
  const before = info.numActionsTaken;
  await schedule.trigger();
  const action = await eventually('the sweep to start', async () => {
    const now = (await schedule.describe()).info;
    return now.numActionsTaken > before && now.recentActions.at(-1)?.action.workflow;
  });
  return client.workflow.getHandle(action.workflowId, action.firstExecutionRunId);
}

/** Runs one sweep, or the workflow of another schedule, at once and returns how it ended. */
export async function sweep(
  testEnv: TestEnvironment,
  idFor = reconciliationScheduleId,
): Promise<{ status: string; result: () => Promise<unknown> }> {
  const handle = await startSweep(testEnv, idFor);
  const status = await eventually('the sweep to end', async () => {
    const { name } = (await handle.describe()).status;
    return name !== 'RUNNING' && name;
  });
  return { status, result: () => handle.result() };
}

// The schedules of the sweep and of the checks of the ledger: created, brought up to date, and restored when somebody removed or
// paused them.
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type Client,
  type ScheduleDescription,
} from '@temporalio/client';
import type { Log } from '../log.ts';
import {
  LEDGER_CHECK_WORKFLOW,
  ledgerCheckScheduleId,
  RECONCILIATION_WORKFLOW,
  reconciliationScheduleId,
  reconciliationTaskQueue,
  WHOLE_LEDGER_CHECK_WORKFLOW,
  wholeLedgerCheckScheduleId,
} from '../../workflows/contract.ts';

export type ScheduleIntervals = {
  readonly sweepEveryMs: number;
  readonly sweepTimeoutMs: number;
  readonly ledgerCheckEveryMs: number;
  readonly wholeLedgerCheckEveryMs: number;
  /** Of both checks of the ledger: the first of all reads the whole ledger, too. */
  readonly ledgerCheckTimeoutMs: number;
};

export type Schedule = {
  readonly scheduleId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly everyMs: number;
  /** An open run keeps the next one from starting: one that cannot progress must not do so for ever. */
  readonly timeoutMs: number;
  /** Whether it runs as soon as it is created, too: its first time may be days away. */
  readonly runsAtOnce: boolean;
  /** What the Temporal UI shows of a run. */
  readonly summary: string;
};

export function schedulesFor(prefix: string, intervals: ScheduleIntervals): Schedule[] {
  const taskQueue = reconciliationTaskQueue(prefix);
  return [
    {
      scheduleId: reconciliationScheduleId(prefix),
      workflowType: RECONCILIATION_WORKFLOW,
      taskQueue,
      everyMs: intervals.sweepEveryMs,
      timeoutMs: intervals.sweepTimeoutMs,
      runsAtOnce: false,
      summary: 'sweep: removes expired records, and checks recent payments',
    },
    {
      scheduleId: ledgerCheckScheduleId(prefix),
      workflowType: LEDGER_CHECK_WORKFLOW,
      taskQueue,
      everyMs: intervals.ledgerCheckEveryMs,
      timeoutMs: intervals.ledgerCheckTimeoutMs,
      runsAtOnce: false,
      summary: 'check of what changed in the ledger',
    },
    {
      scheduleId: wholeLedgerCheckScheduleId(prefix),
      workflowType: WHOLE_LEDGER_CHECK_WORKFLOW,
      taskQueue,
      everyMs: intervals.wholeLedgerCheckEveryMs,
      timeoutMs: intervals.ledgerCheckTimeoutMs,
      runsAtOnce: true,
      summary: 'check of the whole ledger',
    },
  ];
}

/** Creates the schedule, or makes the one that is there as we want it, and has it run. */
export async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  if (await create(client, schedule)) return;
  await rewrite(client, schedule);
}

/**
 * Creates the schedule again if it is gone, and has it run again if it does not, each with an error in the log. Its interval
 * stays as it is: while one version of the service replaces another, two workers may want two intervals.
 */
export async function restoreSchedule(client: Client, schedule: Schedule, log: Log): Promise<void> {
  const { scheduleId, everyMs } = schedule;
  const found = await describe(client, scheduleId);
  if (found === null) {
    if (await create(client, schedule)) log.error({ scheduleId }, 'a schedule was missing, and is created again');
    return;
  }
  const why = whyItStandsStill(found, schedule);
  if (why !== null) {
    await rewrite(client, schedule);
    log.error(
      { scheduleId, why, note: found.state.note },
      'a schedule did not start the expected workflow, and is corrected',
    );
    return;
  }
  const intervals = (found.spec.intervals ?? []).map(({ every }) => every);
  if (intervals.length === 1 && intervals[0] === everyMs) return;
  log.warn({ scheduleId, intervals, everyMs }, 'a schedule has another interval than this process expects');
}

/** Why the schedule does not start what it should, in a word; null when it does. */
export async function findStandstill(client: Client, schedule: Schedule): Promise<string | null> {
  const found = await describe(client, schedule.scheduleId);
  return found === null ? 'gone' : whyItStandsStill(found, schedule);
}

function whyItStandsStill({ action, state, info }: ScheduleDescription, schedule: Schedule): string | null {
  if (action.workflowType !== schedule.workflowType || action.taskQueue !== schedule.taskQueue) return 'other work';
  if (state.paused) return 'paused';
  if (state.remainingActions !== undefined) return 'limited';
  return info.nextActionTimes.length === 0 ? 'no next time' : null;
}

async function describe(client: Client, scheduleId: string): Promise<ScheduleDescription | null> {
  try {
    return await client.schedule.getHandle(scheduleId).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/** False when it is there. */
async function create(client: Client, schedule: Schedule): Promise<boolean> {
  try {
    const { scheduleId, runsAtOnce } = schedule;
    await client.schedule.create({ scheduleId, ...wanted(schedule), state: { triggerImmediately: runsAtOnce } });
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

async function rewrite(client: Client, schedule: Schedule): Promise<void> {
  const { action, ...rest } = wanted(schedule);
  await client.schedule.getHandle(schedule.scheduleId).update((previous) => ({
    ...rest,
    action: { ...action, workflowId: previous.action.workflowId },
    state: { paused: false },
  }));
}

// No second run starts while one is open, and a missed run is not made up for.
function wanted({ workflowType, taskQueue, everyMs, timeoutMs, summary }: Schedule) {
  const run = { workflowType, taskQueue, workflowExecutionTimeout: timeoutMs, staticSummary: summary };
  return {
    spec: { intervals: [{ every: everyMs }] },
    action: { type: 'startWorkflow' as const, ...run },
    policies: { overlap: 'SKIP' as const, catchupWindow: everyMs },
  };
}

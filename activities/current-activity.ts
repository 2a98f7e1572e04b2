// Names the running activity for traces.
import { asyncLocalStorage } from '@temporalio/activity';
import { COLLECTION_WORKFLOW, PAYOUT_WORKFLOW, REVERSAL_WORKFLOW } from '../workflows/contract.ts';

const PAYMENT_WORKFLOWS: ReadonlySet<string> = new Set([COLLECTION_WORKFLOW, PAYOUT_WORKFLOW, REVERSAL_WORKFLOW]);

/** One try of an activity, by the ids that Temporal gave it. */
export type RunningActivity = {
  readonly runId: string;
  readonly activityId: string;
  readonly activityType: string;
  readonly attempt: number;
};

/** Whether the caller runs in a local activity, which holds a workflow task. */
export function isInLocalActivity(): boolean {
  return asyncLocalStorage.getStore()?.info.isLocal === true;
}

/** The try of a payment's activity that is running; null outside of such an activity. */
export function currentActivity(): RunningActivity | null {
  const info = asyncLocalStorage.getStore()?.info;
  const runId = info?.workflowExecution?.runId;
  if (!info || runId === undefined || !PAYMENT_WORKFLOWS.has(info.workflowType ?? '')) return null;
  return { runId, activityId: info.activityId, activityType: info.activityType, attempt: info.attempt };
}

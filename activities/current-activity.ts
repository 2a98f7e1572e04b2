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

/**
 * Whether the workflow may have stopped waiting for the running try: half of its time has passed. Temporal does not say so to a try that
 * exceeds its timeout, and what the try then records is news to the workflow.
 */
export function mayBeAbandoned(): boolean {
  const info = asyncLocalStorage.getStore()?.info;
  return info !== undefined && Date.now() - info.currentAttemptScheduledTimestampMs > info.startToCloseTimeoutMs / 2;
}

/** The try of a payment's activity that is running; null outside of such an activity. */
export function currentActivity(): RunningActivity | null {
  const info = asyncLocalStorage.getStore()?.info;
  const runId = info?.workflowExecution?.runId;
  if (!info || runId === undefined || !PAYMENT_WORKFLOWS.has(info.workflowType ?? '')) return null;
  return { runId, activityId: info.activityId, activityType: info.activityType, attempt: info.attempt };
}

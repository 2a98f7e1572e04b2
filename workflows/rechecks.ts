// Rechecks of final payments of one operator, batch by batch.
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { RecheckActivities } from '../activities/rechecks.ts';
import type { RechecksWorkflowInput } from './contract.ts';
import { RECHECKING } from './policies.ts';

const { recheckBatch } = proxyActivities<RecheckActivities>(RECHECKING);

/** So that the history stays short. The dispatcher starts the next run for what is left. */
const MOST_BATCHES = 100;

/**
 * Rechecks what is due, until that is all, half of the run's time has passed, or the operator gives no status of a whole
 * batch. Its result is how many there were.
 */
export async function rechecksWorkflow({
  operator,
}: RechecksWorkflowInput): Promise<{ rechecked: number; withNews: number }> {
  const endsAtMs = Date.now() + (workflowInfo().executionTimeoutMs ?? Infinity) / 2;
  let rechecked = 0;
  let withNews = 0;
  for (let batches = 1; ; batches++) {
    const batch = await recheckBatch.executeWithOptions({ summary: `query final payments at ${operator}` }, [operator]);
    rechecked += batch.rechecked;
    withNews += batch.withNews;
    const isOperatorAway = batch.withoutStatus === batch.rechecked;
    const isOver = batches === MOST_BATCHES || Date.now() >= endsAtMs;
    if (!batch.isFull || isOperatorAway || isOver) return { rechecked, withNews };
  }
}

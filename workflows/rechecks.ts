// Rechecks of final payments of one operator, batch by batch.
import { proxyActivities } from '@temporalio/workflow';
import type { RecheckActivities } from '../activities/rechecks.ts';
import type { RechecksWorkflowInput } from './contract.ts';
import { RECHECKING } from './policies.ts';

const { recheckBatch } = proxyActivities<RecheckActivities>(RECHECKING);

/** The dispatcher starts the next run for what is left. */
const MOST_BATCHES = 10;

/** Rechecks what is due, and ends early when the operator gives no status of a whole batch. Its result is how many there were. */
export async function rechecksWorkflow({
  operator,
}: RechecksWorkflowInput): Promise<{ rechecked: number; withNews: number }> {
  let rechecked = 0;
  let withNews = 0;
  for (let batches = 1; ; batches++) {
    const batch = await recheckBatch.executeWithOptions({ summary: `query final payments at ${operator}` }, [operator]);
    rechecked += batch.rechecked;
    withNews += batch.withNews;
    const isOperatorAway = batch.withoutStatus === batch.rechecked;
    if (!batch.isFull || isOperatorAway || batches === MOST_BATCHES) return { rechecked, withNews };
  }
}

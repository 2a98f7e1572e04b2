// Gives up a run that cannot progress: from then on its work is unstarted, and the merchant's audit log says why.
import { recordServiceAct } from '../db/accounts/audit.ts';
import type { Database } from '../db/platform/database.ts';
import type { ClaimedWork } from '../db/work/work.ts';
import { markStuck, type StuckWork } from '../db/work/work-checks.ts';
import type { StuckReason } from '../domain/work.ts';

export type GiveUpRun = {
  readonly work: StuckWork;
  readonly runId: string;
  readonly reason: StuckReason;
  /** Nobody starts the work before this has passed: the caller terminates the run meanwhile. */
  readonly leaseMs: number;
  readonly at: Date;
};

/**
 * One transaction marks the work as unstarted, counts a failure and writes the audit entry; returns how often in a row its
 * workflow has failed, and until when nobody starts the work. Null, and nothing is recorded, when the work has changed since it was read: then its run progresses.
 * It comes before the run is terminated. If the caller dies in between, the work is started and found to be open, and the
 * next check gives the run up again.
 */
export async function giveUpRun(
  db: Database,
  { work, runId, reason, leaseMs, at }: GiveUpRun,
): Promise<Pick<ClaimedWork, 'workflowFailures' | 'dueAt'> | null> {
  return db.withTransaction(async (tx) => {
    const marked = await markStuck(tx, work, leaseMs);
    if (marked === null) return null;
    await recordServiceAct(tx, work.merchantId, {
      action: `${work.kind}.workflow_replaced`,
      subjectId: work.id,
      after: { run_id: runId, reason, failures: marked.workflowFailures },
      at,
    });
    return marked;
  });
}

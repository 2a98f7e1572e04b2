// Replaces runs that are open and cannot progress: the row is the truth, and a new run continues from it.
import { postponeStarts } from '../db/work/work.ts';
import type { LateWork } from '../db/work/work-checks.ts';
import { QUARANTINE_AFTER, startBackoffMs, stuckReason, type OpenRun } from '../domain/work.ts';
import { giveUpRun } from '../operations/give-up-run.ts';
import type { TemporalClient } from '../temporal/client.ts';
import type { RecordedWorkOptions } from './recorded-work.ts';

export type StuckRunsOptions = Pick<RecordedWorkOptions, 'db' | 'clocks' | 'startGraceMs' | 'log'> & {
  readonly temporal: Pick<TemporalClient, 'terminate'>;
};

// Longer than the call that terminates the run.
const TERMINATE_LEASE_MS = 15_000;

/**
 * Ends the run if it cannot progress, and makes its work start again; returns whether it did. The row records this
 * first, so the work starts again even after a crash in between. Each further failure waits longer, as for starts.
 */
export async function replaceIfStuck(
  work: LateWork,
  run: OpenRun,
  { db, temporal, clocks, startGraceMs, log }: StuckRunsOptions,
): Promise<boolean> {
  const at = new Date();
  const reason = stuckReason(run, work, at, clocks);
  if (reason === null) return false;
  const { kind, id, merchantId } = work;
  const { runId } = run;
  const marked = await giveUpRun(db, { work, runId, reason, leaseMs: TERMINATE_LEASE_MS, at });
  if (marked === null) return false;
  const { workflowFailures: failures, dueAt } = marked;
  log.warn({ kind, id, merchantId, runId, reason, failures }, 'a run cannot progress, and is replaced');
  if (failures === QUARANTINE_AFTER) {
    log.error(
      { kind, id, merchantId },
      'work is quarantined: its runs do not progress, and the work is retried once an hour',
    );
  }
  // Temporal is unavailable: after the lease the work is still open, and is checked again.
  if ((await temporal.terminate(work, runId, `replaced: ${reason}`)) === 'away') return true;
  const delayMs = failures === 1 ? -startGraceMs : startBackoffMs(failures);
  await postponeStarts(db, [{ id, dueAt, delayMs, isFailure: false }]);
  return true;
}

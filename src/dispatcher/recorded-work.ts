// Starts recorded work whose first start was lost, exceeded its limit, or found Temporal unavailable.
import type { Database } from '../db/platform/database.ts';
import { claimUnstarted, markStarted, postponeStarts, type ClaimedWork } from '../db/work/work.ts';
import {
  firstCheckMs,
  QUARANTINE_AFTER,
  startBackoffMs,
  WORK_KINDS,
  type CheckClocks,
  type WorkKind,
} from '../domain/work.ts';
import type { Log } from '../log.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { createStartFailures, pauseMs } from './start-failures.ts';

export type RecordedWork = {
  /** Claims a batch of each kind and starts it. Resolves to how many starts had a response; 0: wait for the tick. */
  start(): Promise<number>;
  /** Call it when Temporal accepted a start from elsewhere: then Temporal does not refuse all work. */
  noteStarted(kind: WorkKind): void;
  /** Whether batches are full, or Temporal is unavailable or refuses all: then no less urgent work is started. */
  isBehind(): boolean;
};

export type RecordedWorkOptions = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'ping' | 'start'>;
  readonly clocks: CheckClocks;
  readonly batchSize: number;
  /** How old unstarted work must be before a dispatcher starts it. */
  readonly startGraceMs: number;
  readonly log: Log;
};

// Longer than a call to Temporal and its statements: no other process offers the work meanwhile.
const LEASE_MS = 30_000;

/** Any number of dispatchers may do this on one database. While Temporal accepts nothing, calls become rarer. */
export function createRecordedWork(options: RecordedWorkOptions): RecordedWork {
  const { temporal, batchSize, log } = options;
  const failures = createStartFailures();
  let isFull = false;
  let awayCount = 0;
  let resumeAtMs = 0;

  function pause(): number {
    resumeAtMs = Date.now() + pauseMs(awayCount);
    awayCount += 1;
    return 0;
  }

  /** Resolves to how many starts had a response. Work that fails for an unknown reason waits, without a failure. */
  async function finish(batch: Batch, pass: number): Promise<number> {
    const { kind, claimed, failed } = batch;
    if (failed.length === 0 || failures.isFailureOfWork(kind, failed.length, pass)) {
      failures.clear(kind);
      await recordFailures(batch, options);
      return claimed - unansweredOf(batch);
    }
    const isNews = !failures.isAnyWidespread();
    failures.noteUnexplained(kind, failed.length);
    await endClaims(batch, options);
    const line = { error: failed.find(({ error }) => error !== undefined)?.error, kind, count: failed.length };
    if (failures.isAnyWidespread() && isNews)
      log.error(line, 'Temporal starts no workflow of this kind; the work waits');
    else log.warn(line, 'workflows could not be started; the starts are retried');
    return claimed - failed.length;
  }

  return {
    async start() {
      if (!temporal.isConnected() || Date.now() < resumeAtMs) return 0;
      // One call instead of a whole batch that would wait for its timeouts.
      if (awayCount > 0 && !(await temporal.ping())) return pause();
      const pass = failures.beginPass();
      const batches: Batch[] = [];
      for (const kind of WORK_KINDS) {
        if (failures.isPaused(kind)) continue;
        const batch = await startBatch(kind, options);
        batches.push(batch);
        if (batch.running.length > 0) failures.noteStarted(kind);
        if (batch.claimed > 0 && unansweredOf(batch) === batch.claimed && !(await temporal.ping())) {
          for (const claimed of batches) await endClaims(claimed, options);
          return pause();
        }
      }
      awayCount = 0;
      isFull = batches.some(({ claimed }) => claimed >= batchSize);
      let done = 0;
      for (const batch of batches) done += await finish(batch, pass);
      return done;
    },
    noteStarted: failures.noteStarted,
    isBehind: () => awayCount > 0 || isFull || failures.isAnyWidespread(),
  };
}

function unansweredOf({ failed }: Batch): number {
  return failed.filter(({ isRefused }) => !isRefused).length;
}

type Failed = { readonly work: ClaimedWork; readonly isRefused: boolean; readonly error?: unknown };

type Batch = {
  readonly kind: WorkKind;
  readonly claimed: number;
  /** The work whose workflow runs now. */
  readonly running: readonly ClaimedWork[];
  readonly failed: readonly Failed[];
};

async function startBatch(kind: WorkKind, options: RecordedWorkOptions): Promise<Batch> {
  const { db, batchSize, startGraceMs, clocks } = options;
  const claimed = await claimUnstarted(db, kind, {
    limit: batchSize,
    // Only the dispatcher starts deliveries.
    graceMs: kind === 'delivery' ? 0 : startGraceMs,
    leaseMs: LEASE_MS,
  });
  const running: ClaimedWork[] = [];
  const failed: Failed[] = [];
  await Promise.all(
    claimed.map(async (work) => {
      const outcome = await tryToStart(work, options);
      if (outcome === 'running') running.push(work);
      else failed.push({ work, ...outcome });
    }),
  );
  const at = new Date();
  const started = running.map((work) => ({ ...work, checkInMs: firstCheckMs(work, at, clocks) }));
  await markStarted(db, started);
  return { kind, claimed: claimed.length, running, failed };
}

type Outcome = 'running' | Omit<Failed, 'work'>;

async function tryToStart(work: ClaimedWork, options: RecordedWorkOptions): Promise<Outcome> {
  try {
    const started = await options.temporal.start(work);
    return started === 'away' ? { isRefused: false } : 'running';
  } catch (error) {
    return { isRefused: true, error };
  }
}

// It is due at once, after work that has waited longer.
async function endClaims({ failed }: Batch, { db, startGraceMs }: RecordedWorkOptions): Promise<void> {
  const postponed = failed.map(({ work }) => ({ ...work, delayMs: -startGraceMs, isFailure: false }));
  await postponeStarts(db, postponed);
}

async function recordFailures({ kind, failed }: Batch, { db, log }: RecordedWorkOptions): Promise<void> {
  const delayOf = (work: ClaimedWork) => startBackoffMs(work.workflowFailures + 1);
  const postponed = failed.map(({ work }) => ({ ...work, delayMs: delayOf(work), isFailure: true }));
  await postponeStarts(db, postponed);
  for (const { work, error } of failed) {
    const { id, merchantId, workflowFailures } = work;
    log.warn({ error, kind, id, merchantId }, 'a workflow could not be started');
    if (workflowFailures + 1 !== QUARANTINE_AFTER) continue;
    log.error(
      { kind, id, merchantId },
      'work is quarantined: its workflow cannot be started, and the start is retried once an hour',
    );
  }
}

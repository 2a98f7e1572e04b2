// Starts recorded work whose first start was lost, was over its limit, or found Temporal away.
import type { Database } from '../db/database.ts';
import { claimUnstarted, markStarted, postponeStarts, type ClaimedWork } from '../db/work.ts';
import { QUARANTINE_AFTER, startBackoffMs, WORK_KINDS, type WorkKind } from '../domain/work.ts';
import type { Log } from '../log.ts';
import type { TemporalClient } from '../temporal/client.ts';

export type RecordedWork = {
  /** Claims a batch of each kind and starts it. Resolves to how many starts reached Temporal; 0: wait for the next tick. */
  start(): Promise<number>;
};

export type RecordedWorkOptions = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'ping' | 'start'>;
  readonly batchSize: number;
  /** Younger payments are being started by the process that recorded them. */
  readonly startGraceMs: number;
  readonly log: Log;
};

// Longer than a call to Temporal and the statements around it: nobody else offers the work meanwhile.
const LEASE_MS = 30_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

/** Any number of dispatchers may do this on one database. While Temporal is away it is asked less and less often. */
export function createRecordedWork(options: RecordedWorkOptions): RecordedWork {
  const { temporal } = options;
  let awayCount = 0;
  let resumeAtMs = 0;

  function pause(): number {
    resumeAtMs = Date.now() + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** awayCount);
    awayCount += 1;
    return 0;
  }

  return {
    async start() {
      if (!temporal.isConnected() || Date.now() < resumeAtMs) return 0;
      // One question instead of a whole batch that would wait for its time-outs.
      if (awayCount > 0 && !(await temporal.ping())) return pause();
      let reached = 0;
      for (const kind of WORK_KINDS) {
        const batch = await startBatch(kind, options);
        if (batch.claimed > 0 && batch.reached === 0) return pause();
        reached += batch.reached;
      }
      awayCount = 0;
      return reached;
    },
  };
}

type Try = { readonly work: ClaimedWork; readonly outcome: 'running' | 'refused' | 'away' };

async function startBatch(
  kind: WorkKind,
  options: RecordedWorkOptions,
): Promise<{ readonly claimed: number; readonly reached: number }> {
  const { db, batchSize, startGraceMs } = options;
  const claimed = await claimUnstarted(db, kind, {
    limit: batchSize,
    // Nobody but the dispatcher starts deliveries.
    graceMs: kind === 'delivery' ? 0 : startGraceMs,
    leaseMs: LEASE_MS,
  });
  const tries = await Promise.all(claimed.map((work) => tryToStart(work, options)));
  const reached = tries.filter(({ outcome }) => outcome !== 'away').length;
  const running = tries.filter(({ outcome }) => outcome === 'running').map(({ work }) => work);
  await markStarted(db, kind, running, new Date());
  const postponed = tries.filter(({ outcome }) => outcome !== 'running');
  // Temporal was there for others, so the work that it did not start is what fails.
  await (reached > 0 ? recordFailures(kind, postponed, options) : endClaims(kind, postponed, options));
  return { claimed: claimed.length, reached };
}

async function tryToStart(work: ClaimedWork, { temporal, log }: RecordedWorkOptions): Promise<Try> {
  try {
    return { work, outcome: (await temporal.start(work)) === 'away' ? 'away' : 'running' };
  } catch (error) {
    log.warn({ error, kind: work.kind, id: work.id }, 'a workflow could not be started');
    return { work, outcome: 'refused' };
  }
}

async function endClaims(kind: WorkKind, tries: readonly Try[], { db }: RecordedWorkOptions): Promise<void> {
  const postponed = tries.map(({ work }) => ({ id: work.id, delayMs: 0, isFailure: false }));
  await postponeStarts(db, kind, postponed);
}

async function recordFailures(kind: WorkKind, tries: readonly Try[], { db, log }: RecordedWorkOptions): Promise<void> {
  const postponed = tries.map(({ work: { id, workflowFailures } }) => {
    const delayMs = startBackoffMs(workflowFailures + 1);
    return { id, delayMs, isFailure: true };
  });
  await postponeStarts(db, kind, postponed);
  for (const { work } of tries) {
    const { id, merchantId, workflowFailures } = work;
    if (workflowFailures + 1 !== QUARANTINE_AFTER) continue;
    log.error(
      { kind, id, merchantId },
      'work is quarantined: its workflow cannot be started, and is tried once an hour',
    );
  }
}

// Starts recorded work whose first start was lost, was over its limit, or found Temporal away.
import { claimUnstarted, markStarted, postponeStarts, type ClaimedWork } from '../db/work.ts';
import { isFinal } from '../domain/payments/payment.ts';
import { firstCheckMs, QUARANTINE_AFTER, startBackoffMs, WORK_KINDS, type WorkKind } from '../domain/work.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { replaceIfStuck, type StuckRunsOptions } from './stuck-runs.ts';

export type RecordedWork = {
  /** Claims a batch of each kind and starts it. Resolves to how many starts reached Temporal; 0: wait for the next tick. */
  start(): Promise<number>;
  /** Whether the last batches were full, or Temporal was away: then nothing that is less urgent is requeued. */
  isBehind(): boolean;
};

export type RecordedWorkOptions = StuckRunsOptions & {
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'ping' | 'start' | 'inspect' | 'terminate'>;
  readonly batchSize: number;
};

// Longer than a call to Temporal and the statements around it: nobody else offers the work meanwhile.
const LEASE_MS = 30_000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

/** Any number of dispatchers may do this on one database. While Temporal is away it is asked less and less often. */
export function createRecordedWork(options: RecordedWorkOptions): RecordedWork {
  const { temporal } = options;
  let awayCount = 0;
  let isFull = false;
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
      let isAnyFull = false;
      for (const kind of WORK_KINDS) {
        const batch = await startBatch(kind, options);
        if (batch.claimed > 0 && batch.reached === 0) return pause();
        isAnyFull ||= batch.claimed >= options.batchSize;
        reached += batch.reached;
      }
      awayCount = 0;
      isFull = isAnyFull;
      return reached;
    },
    isBehind: () => awayCount > 0 || isFull,
  };
}

type Try = { readonly work: ClaimedWork; readonly outcome: 'running' | 'replaced' | 'refused' | 'away' };

async function startBatch(
  kind: WorkKind,
  options: RecordedWorkOptions,
): Promise<{ readonly claimed: number; readonly reached: number }> {
  const { db, batchSize, startGraceMs, clocks } = options;
  const claimed = await claimUnstarted(db, kind, {
    limit: batchSize,
    // Nobody but the dispatcher starts deliveries.
    graceMs: kind === 'delivery' ? 0 : startGraceMs,
    leaseMs: LEASE_MS,
  });
  const tries = await Promise.all(claimed.map((work) => tryToStart(work, options)));
  const reached = tries.filter(({ outcome }) => outcome !== 'away').length;
  const running = tries.filter(({ outcome }) => outcome === 'running').map(({ work }) => work);
  await markStarted(db, kind, running, { at: new Date(), checkInMs: firstCheckMs(kind, clocks) });
  const postponed = tries.filter(({ outcome }) => outcome === 'refused' || outcome === 'away');
  // Temporal was there for others, so the work that it did not start is what fails.
  await (reached > 0 ? recordFailures(kind, postponed, options) : endClaims(kind, postponed, options));
  return { claimed: claimed.length, reached };
}

async function tryToStart(work: ClaimedWork, options: RecordedWorkOptions): Promise<Try> {
  try {
    const started = await options.temporal.start(work);
    if (started === 'open' && (await isStuckRecheck(work, options))) return { work, outcome: 'replaced' };
    return { work, outcome: started === 'away' ? 'away' : 'running' };
  } catch (error) {
    options.log.warn({ error, kind: work.kind, id: work.id }, 'a workflow could not be started');
    return { work, outcome: 'refused' };
  }
}

// A recheck is not checked by itself: when the next one finds it open, that one looks whether it progresses.
async function isStuckRecheck(work: ClaimedWork, options: RecordedWorkOptions): Promise<boolean> {
  if (work.kind === 'delivery' || !isFinal(work.state)) return false;
  const run = await options.temporal.inspect(work);
  return typeof run === 'object' && replaceIfStuck(work, run, options);
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

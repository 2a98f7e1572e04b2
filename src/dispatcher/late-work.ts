// Checks started work that is late: whether its workflow still runs, and whether the run progresses.
import { claimLate, markLost, scheduleChecks, type LateWork } from '../db/work-checks.ts';
import { nextCheckMs, WORK_KINDS, type OpenRun, type WorkKind } from '../domain/work.ts';
import { requeueRechecks } from '../operations/requeue-rechecks.ts';
import type { Clocks } from '../domain/clocks.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { replaceIfStuck, type StuckRunsOptions } from './stuck-runs.ts';

export type LateWorkOptions = StuckRunsOptions & {
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'inspect' | 'terminate'>;
  readonly clocks: Clocks;
  readonly onLost: () => void;
};

export type LateWorkChecks = {
  /** Checks some late work of each kind; resolves to how much of it had lost its workflow. */
  check(): Promise<number>;
  /** Requeues some final payments whose recheck is due. */
  requeueRechecks(): Promise<void>;
};

// A check costs Temporal a read. In a pass so few of a kind are checked, and at most so many runs are replaced.
const CHECKS_PER_PASS = 10;
const RECHECKS_PER_PASS = 50;
// Longer than the calls of a check.
const LEASE_MS = 30_000;

export function createLateWorkChecks(options: LateWorkOptions): LateWorkChecks {
  const { db, temporal, clocks } = options;
  return {
    async check() {
      let lost = 0;
      for (const kind of WORK_KINDS) {
        if (!temporal.isConnected()) return 0;
        lost += await checkKind(kind, options);
      }
      return lost;
    },
    async requeueRechecks() {
      if (!temporal.isConnected()) return;
      const { collection, payout, reversal } = await requeueRechecks(db, {
        at: new Date(),
        clocks,
        limit: RECHECKS_PER_PASS,
      });
      if (collection + payout + reversal > 0) options.onLost();
    },
  };
}

type Checked = { readonly work: LateWork; readonly run: OpenRun | 'closed' | 'away' };

async function checkKind(kind: WorkKind, options: LateWorkOptions): Promise<number> {
  const { db, clocks, log, onLost } = options;
  const claim = { limit: CHECKS_PER_PASS, leaseMs: LEASE_MS, overdueMs: clocks.staleAfterMs };
  const late = await claimLate(db, kind, claim);
  const checked = await Promise.all(
    late.map(async (work): Promise<Checked> => ({ work, run: await inspect(work, options) })),
  );
  const lost = checked.filter(({ run }) => run === 'closed').map(({ work }) => work);
  for (const { id, merchantId } of lost) log.warn({ kind, id, merchantId }, 'a workflow was lost and is started again');
  await markLost(db, kind, lost);
  const inOrder: LateWork[] = [];
  let replaced = 0;
  for (const { work, run } of checked) {
    // Where Temporal is away the check is repeated when its lease has ended.
    if (run === 'closed' || run === 'away') continue;
    if (await replaceIfStuck(work, run, options)) replaced += 1;
    else inOrder.push(work);
  }
  const now = Date.now();
  await scheduleChecks(
    db,
    kind,
    inOrder.map((work) => ({ work, delayMs: nextCheckMs(work, now - work.updatedAt.getTime(), clocks) })),
  );
  if (lost.length + replaced > 0) onLost();
  return lost.length;
}

async function inspect(work: LateWork, { temporal, log }: LateWorkOptions): Promise<Checked['run']> {
  try {
    return await temporal.inspect(work);
  } catch (error) {
    log.warn({ error, kind: work.kind, id: work.id }, 'a workflow could not be inspected');
    return 'away';
  }
}

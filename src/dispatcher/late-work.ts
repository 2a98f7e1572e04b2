// Checks started work that is late: whether its workflow still runs, and whether the run progresses.
import { isFinal } from '../domain/payments/payment.ts';
import { claimLate, endWorkflows, markLost, scheduleChecks, type LateWork } from '../db/work/work-checks.ts';
import { nextCheckMs, WORK_KINDS, type OpenRun, type WorkKind } from '../domain/work.ts';
import type { Clocks } from '../domain/clocks.ts';
import type { TemporalClient } from '../temporal/client.ts';
import { replaceIfStuck, type StuckRunsOptions } from './stuck-runs.ts';

export type LateWorkOptions = StuckRunsOptions & {
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'inspect' | 'terminate'>;
  readonly clocks: Clocks;
  readonly onLost: () => void;
};

export type LateWorkChecks = {
  /** Checks late work of each kind; resolves to how much of it had lost its workflow. */
  check(): Promise<number>;
};

// Each check reads from Temporal. A pass checks a limited number of each kind, in batches, and replaces a limited
// number of runs, so that a bad release does not end everything at once.
const CHECKS_PER_PASS = 100;
const BATCH_SIZE = 10;
const REPLACED_PER_PASS = 10;
// Longer than the calls of a check.
const LEASE_MS = 30_000;

export function createLateWorkChecks(options: LateWorkOptions): LateWorkChecks {
  const { temporal } = options;
  return {
    async check() {
      let lost = 0;
      for (const kind of WORK_KINDS) {
        if (!temporal.isConnected()) return 0;
        lost += await checkKind(kind, options);
      }
      return lost;
    },
  };
}

/** Checks batches while they are full and Temporal responds; resolves to how much had lost its workflow. */
async function checkKind(kind: WorkKind, options: LateWorkOptions): Promise<number> {
  let checked = 0;
  let lost = 0;
  let replaced = 0;
  for (;;) {
    const batch = await checkBatch(kind, options);
    checked += batch.claimed;
    lost += batch.lost;
    replaced += batch.replaced;
    const isDone = batch.claimed < BATCH_SIZE || checked >= CHECKS_PER_PASS;
    if (isDone || batch.isAway || replaced >= REPLACED_PER_PASS) return lost;
  }
}

function isOver(work: LateWork): boolean {
  return work.kind !== 'delivery' && isFinal(work.state);
}

type Checked = { readonly work: LateWork; readonly run: OpenRun | 'closed' | 'away' };

type CheckedBatch = {
  readonly claimed: number;
  readonly lost: number;
  readonly replaced: number;
  /** Whether Temporal described none of it. */
  readonly isAway: boolean;
};

async function checkBatch(kind: WorkKind, options: LateWorkOptions): Promise<CheckedBatch> {
  const { db, clocks, log, onLost } = options;
  const late = await claimLate(db, kind, { limit: BATCH_SIZE, leaseMs: LEASE_MS });
  const checked = await Promise.all(late.map(async (work) => ({ work, run: await inspect(work, options) })));
  const closed = checked.filter(({ run }) => run === 'closed').map(({ work }) => work);
  // The workflow of a final payment was told so, and has ended.
  await endWorkflows(db, closed.filter(isOver));
  const lost = closed.filter((work) => !isOver(work));
  for (const { id, merchantId } of lost)
    log.warn({ kind, id, merchantId }, 'a workflow was lost, and is started again');
  await markLost(db, lost);
  const { inOrder, replaced } = await replaceStuck(checked, options);
  const now = Date.now();
  await scheduleChecks(
    db,
    inOrder.map((work) => ({ work, delayMs: nextCheckMs(work, now - work.updatedAt.getTime(), clocks) })),
  );
  if (lost.length + replaced > 0) onLost();
  const isAway = checked.length > 0 && checked.every(({ run }) => run === 'away');
  return { claimed: checked.length, lost: lost.length, replaced, isAway };
}

async function replaceStuck(
  checked: readonly Checked[],
  options: LateWorkOptions,
): Promise<{ readonly inOrder: LateWork[]; readonly replaced: number }> {
  const inOrder: LateWork[] = [];
  let replaced = 0;
  for (const { work, run } of checked) {
    // If Temporal is unavailable, the check is repeated after its lease.
    if (run === 'closed' || run === 'away') continue;
    if (await replaceIfStuck(work, run, options)) replaced += 1;
    else inOrder.push(work);
  }
  return { inOrder, replaced };
}

async function inspect(work: LateWork, { temporal, log }: LateWorkOptions): Promise<Checked['run']> {
  try {
    return await temporal.inspect(work);
  } catch (error) {
    log.warn({ error, kind: work.kind, id: work.id }, 'a workflow could not be inspected');
    return 'away';
  }
}

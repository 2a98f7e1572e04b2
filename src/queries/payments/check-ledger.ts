// Checks the ledger's invariants over all rows, range by range, so that a check that was interrupted can be continued.
import type { Database, Queryable } from '../../db/database.ts';
import { findOpenDiscrepancies } from '../../db/payments/discrepancy.ts';
import {
  findBalanceDrift,
  findLastOfRange,
  findUndecided,
  findUnpostedCollections,
  findUnpostedPayouts,
  type LedgerFault,
} from '../../db/payments/ledger.ts';
import { discrepancyFault } from '../../domain/payments/discrepancy.ts';

/** A range takes seconds; one account may have millions of entries, which are summed in one statement. */
const STATEMENT_TIMEOUT_MS = 25 * 60_000;
const MOST_FAULTS = 400;
const MOST_DISCREPANCIES = 100;
const MOST_UNDECIDED = 100;
const UNDECIDED_AFTER_DAYS = 3;

type Part = 'account' | 'collection' | 'payout';

const RANGES: Readonly<
  Record<Part, { readonly size: number; readonly find: typeof findBalanceDrift; readonly next: Part | null }>
> = {
  account: { size: 100, find: findBalanceDrift, next: 'collection' },
  collection: { size: 10_000, find: findUnpostedCollections, next: 'payout' },
  payout: { size: 10_000, find: findUnpostedPayouts, next: null },
};

/** How far a check came: the next range begins after this id of this part. As JSON it is what a later try begins with. */
export type LedgerCheckProgress = {
  readonly part: Part | 'discrepancies' | 'done';
  readonly after: string;
  /** At most 400. */
  readonly faults: readonly LedgerFault[];
};

/** The start of a check of everything. */
export const LEDGER_CHECK_START: LedgerCheckProgress = { part: 'account', after: '', faults: [] };

/**
 * Checks the next range; returns the progress after it. Each range is one statement and so one snapshot. That is enough: the
 * database writes a payment's state and its transfers, and a transfer and both balances, in one transaction, so any
 * snapshot shows them together or not at all, whatever happens between two ranges. Changes nothing; fails when the
 * signal aborts it.
 */
export async function continueLedgerCheck(
  db: Database,
  progress: LedgerCheckProgress,
  signal?: AbortSignal,
): Promise<LedgerCheckProgress> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  return db.withLongReads(limits, async (reads) => {
    const { part } = progress;
    if (part === 'done') return progress;
    if (part === 'discrepancies')
      return { part: 'done', after: '', faults: withMore(progress, await unsettled(reads)) };
    const { size, find, next } = RANGES[part];
    const to = await findLastOfRange(reads, part, progress.after, size);
    if (to === null) return { ...progress, part: next ?? 'discrepancies', after: '' };
    return { part, after: to, faults: withMore(progress, await find(reads, { after: progress.after, to })) };
  });
}

function withMore({ faults }: LedgerCheckProgress, more: readonly LedgerFault[]): LedgerFault[] {
  return [...faults, ...more].slice(0, MOST_FAULTS);
}

async function unsettled(reads: Queryable): Promise<LedgerFault[]> {
  const open = await findOpenDiscrepancies(reads, MOST_DISCREPANCIES);
  const undecided = await findUndecided(reads, UNDECIDED_AFTER_DAYS, MOST_UNDECIDED);
  return [...open.map((found) => ({ subject: found.subject, fault: discrepancyFault(found) })), ...undecided];
}

/**
 * The faults of the ledger, at most 400: rows that the database should have refused, discrepancies that nobody has settled
 * yet, and payouts and refunds that have no outcome days after their release. Every fault is an alarm.
 */
export async function checkLedger(db: Database, signal?: AbortSignal): Promise<readonly LedgerFault[]> {
  let progress = LEDGER_CHECK_START;
  while (progress.part !== 'done') progress = await continueLedgerCheck(db, progress, signal);
  return progress.faults;
}

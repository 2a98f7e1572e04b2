// Checks the ledger's invariants over recent payments, or over all rows, range by range, so that an interrupted check can be continued.
import { findAllUnattestedCredits, findUnattestedRefunds } from '../../db/payments/attested-credit.ts';
import { findOpenDiscrepancies } from '../../db/payments/discrepancy.ts';
import { findAvailableAccounts, isCheckpointAttested } from '../../db/payments/ledger-checkpoint.ts';
import { findBalanceDrift, findLastOfRange, findUndecided } from '../../db/payments/ledger.ts';
import { findUnposted, type IdRange } from '../../db/payments/unposted.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import { lowestIdAt } from '../../domain/ids.ts';
import { discrepancyFault } from '../../domain/payments/discrepancy.ts';
import {
  checkpointFault,
  unattestedBalanceFault,
  unattestedFault,
  unpostedFault,
  type LedgerFault,
} from '../../domain/payments/ledger-fault.ts';

/** A range takes seconds; but one account may have millions of entries, which one statement sums. */
const STATEMENT_TIMEOUT_MS = 25 * 60_000;
const MOST_FAULTS = 400;
const MOST_DISCREPANCIES = 100;
const MOST_UNDECIDED = 100;
const UNDECIDED_AFTER_DAYS = 3;

type Part = 'account' | 'payment';

type Range = {
  readonly size: number;
  readonly find: (reads: Queryable, range: IdRange) => Promise<LedgerFault[]>;
  readonly next: Part | 'done';
};

const RANGES: Readonly<Record<Part, Range>> = {
  account: {
    size: 100,
    find: async (reads, range) => [...(await findBalanceDrift(reads, range)), ...(await findUnattested(reads, range))],
    next: 'done',
  },
  payment: {
    size: 10_000,
    find: async (reads, range) => (await findUnposted(reads, range)).map(({ id }) => unpostedFault(id)),
    next: 'account',
  },
};

// Credits that an attested checkpoint has passed are not verified again: this service verified them, with keys that may be replaced since.
async function findUnattested(reads: Queryable, range: IdRange): Promise<LedgerFault[]> {
  const faults: LedgerFault[] = [];
  const accounts = await findAvailableAccounts(reads, range);
  const merchantIds = accounts.map(({ accountId }) => accountId.slice(0, accountId.indexOf('/')));
  faults.push(...(await findUnattestedRefunds(reads, merchantIds)).map(({ ref }) => unattestedFault(ref.id)));
  for (const account of accounts) {
    const isChecked = isCheckpointAttested(reads, account);
    if (!isChecked) faults.push(checkpointFault(account.accountId));
    else if (account.checkedUnattestedMinor > 0n) faults.push(unattestedBalanceFault(account.accountId));
    const unchecked = isChecked ? account : { ...account, after: 0n };
    faults.push(...(await findAllUnattestedCredits(reads, unchecked)).map(({ ref }) => unattestedFault(ref.id)));
  }
  return faults;
}

/** The progress of a check: the next range begins after the id `after` of this part. A later try begins with this progress as JSON. */
export type LedgerCheckProgress = {
  readonly part: Part | 'done';
  readonly after: string;
  /** At most 400 faults. */
  readonly faults: readonly LedgerFault[];
};

export const LEDGER_CHECK_START: LedgerCheckProgress = { part: 'payment', after: '', faults: [] };

/**
 * Checks the next range; returns the progress after it. Each range is one statement and so one snapshot. A snapshot per range is enough:
 * the database writes a payment's state and its transfers, and a transfer and both balances, in one transaction. Any snapshot shows them
 * together or not at all, whatever happens between two ranges. Changes nothing; fails if the signal aborts the check.
 */
export async function continueLedgerCheck(
  db: Database,
  progress: LedgerCheckProgress,
  signal?: AbortSignal,
): Promise<LedgerCheckProgress> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...(signal && { signal }) };
  return db.withLongReads(limits, async (reads) => {
    const { part, after, faults } = progress;
    if (part === 'done') return progress;
    const { size, find, next } = RANGES[part];
    const to = await findLastOfRange(reads, part, after, size);
    if (to === null) return { ...progress, part: next, after: '' };
    return { part, after: to, faults: [...faults, ...(await find(reads, { after, to }))].slice(0, MOST_FAULTS) };
  });
}

/** Discrepancies that nobody has settled, and payouts and refunds without an outcome days after their release: at most 200. */
export async function findUnsettled(db: Queryable): Promise<LedgerFault[]> {
  const open = await findOpenDiscrepancies(db, MOST_DISCREPANCIES);
  const undecided = await findUndecided(db, UNDECIDED_AFTER_DAYS, MOST_UNDECIDED);
  return [...open.map((found) => ({ subject: found.subject, fault: discrepancyFault(found) })), ...undecided];
}

/**
 * The faults of the whole ledger, at most 400, which are rows that the database should have refused, and everything unsettled. Every fault
 * is an alarm.
 */
export async function checkLedger(db: Database, signal?: AbortSignal): Promise<readonly LedgerFault[]> {
  let progress = LEDGER_CHECK_START;
  while (progress.part !== 'done') progress = await continueLedgerCheck(db, progress, signal);
  return [...progress.faults, ...(await findUnsettled(db))];
}

const RECENT_TIMEOUT_MS = 60_000;
/** At most 200 payments created since `since` whose state and transfers disagree. Changes nothing; fails if aborted. */
export async function checkRecentPayments(db: Database, since: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: RECENT_TIMEOUT_MS, ...(signal && { signal }) };
  const idsSince = (prefix: 'col' | 'pay'): IdRange => ({
    after: lowestIdAt(prefix, since.getTime()),
    // Sorts behind every id of the kind.
    to: `${prefix}_~`,
  });
  return db.withLongReads(limits, async (reads) => {
    const collections = await findUnposted(reads, idsSince('col'));
    const payouts = await findUnposted(reads, idsSince('pay'));
    return [...collections, ...payouts].map(({ id }) => unpostedFault(id));
  });
}

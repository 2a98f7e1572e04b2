// Checks what changed in the ledger since the check before, and records how far it came.
import type { Database, LongReadLimits } from '../../db/database.ts';
import {
  findCheckedPayments,
  findLastEvent,
  findMovedAccounts,
  recordCheckedPayments,
  recordCheckpoints,
} from '../../db/payments/ledger-checkpoint.ts';
import { findUnpostedOfEntries, findUnpostedOfEvents } from '../../db/payments/unposted.ts';
import { idTimeMs, lowestIdAt } from '../../domain/ids.ts';
import { newDriftFault, unpostedFault, type LedgerFault } from '../../domain/payments/ledger-fault.ts';

const STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MOST_FAULTS = 400;
const ACCOUNTS = 100;
/** Of each account. */
const ENTRIES = 1000;
const EVENTS = 10_000;
/** An event is of the clock of its process, and commits later: by less than this. */
const LATE_BY_MS = 15 * 60_000;

/**
 * Checks the entries of all accounts since their checkpoints, with their payments, and the payments that events report since the check
 * before: the first check of all reads everything. A checkpoint moves only over what has no fault, so that a fault is found again until it is
 * mended; what comes behind it in its account waits for that. What changed without an entry and without an event is left to the
 * check of the whole ledger. Returns at most 400 faults. Safe to repeat, and to run twice at once; fails when the signal aborts it, and then goes on where it
 * was the next time.
 */
export async function checkLedgerChanges(db: Database, beganAt: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, byIndex: true, ...(signal && { signal }) };
  const faults = new Faults();
  await checkEntries(db, limits, faults);
  await checkChangedPayments(db, limits, { beganAt, faults });
  return faults.all();
}

/** Each once, however often it was found. */
class Faults {
  readonly #bySubject = new Map<string, LedgerFault>();

  add(faults: readonly LedgerFault[]): void {
    for (const fault of faults) {
      if (this.#bySubject.size < MOST_FAULTS) this.#bySubject.set(`${fault.subject} ${fault.fault}`, fault);
    }
  }

  all(): LedgerFault[] {
    return [...this.#bySubject.values()];
  }
}

async function checkEntries(db: Database, limits: LongReadLimits, faults: Faults): Promise<void> {
  let after = '';
  for (;;) {
    const { moved, unposted } = await db.withLongReads(limits, async (reads) => {
      const accounts = await findMovedAccounts(reads, { after, accounts: ACCOUNTS, entries: ENTRIES });
      return { moved: accounts, unposted: await findUnpostedOfEntries(reads, accounts) };
    });
    const last = moved.at(-1);
    if (last === undefined) return;
    const isOfUnposted = (accountId: string) =>
      unposted.some(({ merchantId }) => accountId.startsWith(`${merchantId}/`));
    const right = moved.filter(({ accountId, addsUp }) => addsUp && !isOfUnposted(accountId));
    await recordCheckpoints(db, right);
    const drifted = moved.filter(({ addsUp }) => !addsUp);
    faults.add([...drifted.map(({ accountId }) => newDriftFault(accountId)), ...unposted.map(unpostedFault)]);
    // Otherwise these accounts again, from where they are now.
    if (!right.some(({ hasMore }) => hasMore)) after = last.accountId;
  }
}

async function checkChangedPayments(
  db: Database,
  limits: LongReadLimits,
  { beganAt, faults }: { readonly beganAt: Date; readonly faults: Faults },
): Promise<void> {
  const checked = await findCheckedPayments(db);
  const before = lowestIdAt('evt', beganAt.getTime());
  let after: string = lowestIdAt('evt', (checked?.getTime() ?? 0) - LATE_BY_MS);
  let isRight = true;
  for (;;) {
    const range = await db.withLongReads(limits, async (reads) => {
      const to = await findLastEvent(reads, { after, before, limit: EVENTS });
      return to === null ? null : { to, unposted: await findUnpostedOfEvents(reads, { after, to }) };
    });
    if (range !== null) {
      faults.add(range.unposted.map(unpostedFault));
      isRight &&= range.unposted.length === 0;
    }
    if (isRight) await recordCheckedPayments(db, range === null ? beganAt : new Date(idTimeMs(range.to)));
    if (range === null) return;
    after = range.to;
  }
}

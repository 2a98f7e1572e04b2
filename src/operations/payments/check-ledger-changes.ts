// Checks the changes of the ledger since the previous check, and records the progress.
import type { Database, LongReadLimits } from '../../db/platform/database.ts';
import { findDoneAsOf, markDone } from '../../db/platform/housekeeping.ts';
import { insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import {
  findUnattestedCredits,
  findUnattestedRefunds,
  type UnattestedCredit,
} from '../../db/payments/attested-credit.ts';
import {
  findFunds,
  findLastEvent,
  findMovedAccounts,
  isCheckpointAttested,
  recordCheckpoints,
  type CheckedAccount,
  type MovedAccount,
} from '../../db/payments/ledger-checkpoint.ts';
import { findUnpostedOfEntries, findUnpostedOfEvents, type IdRange } from '../../db/payments/unposted.ts';
import { idTimeMs, lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import { availableAccount } from '../../domain/payments/ledger.ts';
import {
  checkpointFault,
  newDriftFault,
  unattestedFault,
  unpostedFault,
  type LedgerFault,
} from '../../domain/payments/ledger-fault.ts';

const STATEMENT_TIMEOUT_MS = 5 * 60_000;
const MOST_FAULTS = 400;
/** Sorts behind every id. */
const END = '~';
const ACCOUNTS = 100;
/** Per account. */
const ENTRIES = 1000;
const EVENTS = 10_000;
/** An event has the time of its process's clock and commits later, by less than this. */
const LATE_BY_MS = 15 * 60_000;

/**
 * Checks the entries of all accounts since their checkpoints, with their payments, and the payments that events report since the previous
 * check: the very first check reads everything. A checkpoint moves only over entries without a fault, so that every check finds a fault
 * until it is repaired; later entries of the account wait until then. Money that an unattested transfer made available is recorded as a
 * discrepancy, and the checkpoint keeps its amount. The check of the whole ledger covers changes without an entry and without an event.
 * Returns at most 400 faults. Safe to repeat, and to run twice at once; fails if the signal aborts it, and the next run continues from the
 * same place.
 */
export async function checkLedgerChanges(db: Database, beganAt: Date, signal?: AbortSignal): Promise<LedgerFault[]> {
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, byIndex: true, ...(signal && { signal }) };
  const faults = new Faults();
  await checkEntries(db, limits, faults);
  await checkChangedPayments(db, limits, { beganAt, faults });
  return faults.all();
}

/** Keeps each fault once, however often it was found. */
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
    const { moved, hasMore } = await checkAccounts(db, limits, { range: { after, to: END }, faults });
    const last = moved.at(-1);
    if (last === undefined) return;
    // If entries remain, the next round checks the same accounts again, from their new checkpoints.
    if (!hasMore) after = last.accountId;
  }
}

/** A release verifies up to this many entries since the checkpoint in its own transaction. */
const FEW_ENTRIES = 200n;

/**
 * As `checkLedgerChanges`, for the entries of one merchant's available account, if more than `few` came since its checkpoint, so that a
 * later release has few entries to verify.
 */
export async function checkMerchantEntries(
  db: Database,
  { merchantId, few = FEW_ENTRIES }: { readonly merchantId: MerchantId; readonly few?: bigint },
): Promise<void> {
  const { entry, after } = await findFunds(db, merchantId);
  if (entry - after <= few) return;
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, byIndex: true };
  const range = { after: `${merchantId}/`, to: availableAccount(merchantId) };
  while ((await checkAccounts(db, limits, { range, faults: new Faults() })).hasMore);
}

type Accounts = { readonly range: IdRange; readonly faults: Faults };

/** `hasMore`: a checkpoint moved, and further entries follow it. */
async function checkAccounts(db: Database, limits: LongReadLimits, { range, faults }: Accounts) {
  const { moved, unposted, unattested, refunds } = await db.withLongReads(limits, async (reads) => {
    const found = await findMovedAccounts(reads, range, { accounts: ACCOUNTS, entries: ENTRIES });
    const merchantIds = new Set(found.map(({ accountId }) => accountId.slice(0, accountId.indexOf('/'))));
    return {
      moved: found,
      unposted: await findUnpostedOfEntries(reads, found),
      unattested: await findUnattestedCredits(reads, found),
      // Found at every check until a person settles the discrepancy, because no checkpoint passes over refunds.
      refunds: (await findUnattestedRefunds(reads, [...merchantIds])).filter(({ isClosed }) => !isClosed),
    };
  });
  const forged = moved.filter((account) => !isCheckpointAttested(db, account));
  const isOfUnposted = (accountId: string) => unposted.some(({ merchantId }) => accountId.startsWith(`${merchantId}/`));
  const right = moved.filter(
    (account) => account.addsUp && !isOfUnposted(account.accountId) && !forged.includes(account),
  );
  // Recorded before the checkpoints: a credit that a checkpoint has passed is not found again.
  for (const { ref, table } of [...unattested, ...refunds]) {
    db.attestor.report({ table, key: ref.id });
    const found = { kind: 'credit_unattested', foundAt: new Date() } as const;
    await db.withTransaction((tx) => insertDiscrepancy(tx, ref, found));
  }
  await recordCheckpoints(
    db,
    right.map((account) => withUnattested(account, unattested)),
  );
  const drifted = moved.filter(({ addsUp }) => !addsUp);
  faults.add([
    ...drifted.map(({ accountId }) => newDriftFault(accountId)),
    ...forged.map(({ accountId }) => checkpointFault(accountId)),
    ...unposted.map(({ id }) => unpostedFault(id)),
    ...[...unattested, ...refunds].map(({ ref }) => unattestedFault(ref.id)),
  ]);
  return { moved, hasMore: right.some((account) => account.hasMore) };
}

function withUnattested(account: MovedAccount, unattested: readonly UnattestedCredit[]): CheckedAccount {
  const { accountId, entry, balanceMinor, checkpointAttestation, checkedUnattestedMinor } = account;
  const own = unattested.filter((credit) => credit.accountId === accountId);
  const unattestedMinor = own.reduce((sum, { amountMinor }) => sum + amountMinor, checkedUnattestedMinor);
  return { accountId, entry, balanceMinor, unattestedMinor, checkpointAttestation };
}

const CHECKED = 'changed_payments';

async function checkChangedPayments(
  db: Database,
  limits: LongReadLimits,
  { beganAt, faults }: { readonly beganAt: Date; readonly faults: Faults },
): Promise<void> {
  const checked = await findDoneAsOf(db, CHECKED);
  const before = lowestIdAt('evt', beganAt.getTime());
  let after: string = lowestIdAt('evt', (checked?.getTime() ?? 0) - LATE_BY_MS);
  let isRight = true;
  for (;;) {
    const range = await db.withLongReads(limits, async (reads) => {
      const to = await findLastEvent(reads, { after, before, limit: EVENTS });
      return to === null ? null : { to, unposted: await findUnpostedOfEvents(reads, { after, to }) };
    });
    if (range !== null) {
      faults.add(range.unposted.map(({ id }) => unpostedFault(id)));
      isRight &&= range.unposted.length === 0;
    }
    if (isRight) {
      const doneAsOf = range === null ? beganAt : new Date(idTimeMs(range.to));
      await markDone(db, { task: CHECKED, doneAsOf, faults: 0 });
    }
    if (range === null) return;
    after = range.to;
  }
}

// Checks what changed in the ledger since the check before, and records how far it came.
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
/** Of each account. */
const ENTRIES = 1000;
const EVENTS = 10_000;
/** An event is of the clock of its process, and commits later: by less than this. */
const LATE_BY_MS = 15 * 60_000;

/**
 * Checks the entries of all accounts since their checkpoints, with their payments, and the payments that events report since the check
 * before: the first check of all reads everything. A checkpoint moves only over what has no fault, so that a fault is found again until it is
 * mended; what comes behind it in its account waits for that. Money that became available by a transfer which no process of ours attested
 * is recorded as a discrepancy, and the checkpoint keeps how much it is. What changed without an entry and without an event is left to the
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
    const { moved, hasMore } = await checkAccounts(db, limits, { range: { after, to: END }, faults });
    const last = moved.at(-1);
    if (last === undefined) return;
    // Otherwise these accounts again, from where they are now.
    if (!hasMore) after = last.accountId;
  }
}

/** So many entries since the checkpoint are left to a release, which verifies them in its transaction. */
const FEW_ENTRIES = 200n;

/**
 * The same for the entries of one merchant's available account, if more than a `few` came since its checkpoint, so that a release which
 * follows has few to verify.
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

/** `hasMore`: a checkpoint moved, and there are entries behind it. */
async function checkAccounts(db: Database, limits: LongReadLimits, { range, faults }: Accounts) {
  const { moved, unposted, unattested, refunds } = await db.withLongReads(limits, async (reads) => {
    const found = await findMovedAccounts(reads, range, { accounts: ACCOUNTS, entries: ENTRIES });
    const merchantIds = new Set(found.map(({ accountId }) => accountId.slice(0, accountId.indexOf('/'))));
    return {
      moved: found,
      unposted: await findUnpostedOfEntries(reads, found),
      unattested: await findUnattestedCredits(reads, found),
      // Each time, as no checkpoint passes over them, until a person settles it.
      refunds: (await findUnattestedRefunds(reads, [...merchantIds])).filter(({ isClosed }) => !isClosed),
    };
  });
  const forged = moved.filter((account) => !isCheckpointAttested(db, account));
  const isOfUnposted = (accountId: string) => unposted.some(({ merchantId }) => accountId.startsWith(`${merchantId}/`));
  const right = moved.filter(
    (account) => account.addsUp && !isOfUnposted(account.accountId) && !forged.includes(account),
  );
  // Before the checkpoints: what they pass over is not found again.
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

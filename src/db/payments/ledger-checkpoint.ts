// How far the ledger was checked: the last checked entry of each account, and the last checked event.
import type { EventId, MerchantId } from '../../domain/ids.ts';
import { availableAccount } from '../../domain/payments/ledger.ts';
import { attestedTable } from '../accounts/attested-rows.ts';
import { columnsOf } from '../platform/columns.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import type { EntryRange, IdRange } from './unposted.ts';

const attestedCheckpoints = attestedTable('ledger_checkpoints');

/** Entries of an account that no check has seen yet. */
export type MovedAccount = EntryRange & {
  /** After the last of these entries, computed from the checkpoint. */
  readonly balanceMinor: bigint;
  /** Whether every number has one entry, the balance of each entry is right, and that of the last is the account's balance. */
  readonly addsUp: boolean;
  readonly hasMore: boolean;
} & Checkpoint;

/** The checkpoint of an account without its entry, which is `after`. Without a checkpoint, the amounts are zero. */
type Checkpoint = {
  readonly checkedMinor: bigint;
  readonly checkedUnattestedMinor: bigint;
  readonly checkpointAttestation: string | null;
};

const CHECKPOINT = `coalesce(c.entry, 0) AS after, coalesce(c.balance_minor, 0) AS checked_minor,
  coalesce(c.unattested_minor, 0) AS checked_unattested_minor, c.attestation AS checkpoint_attestation`;

/** Whether a process of ours wrote the checkpoint, or there is none. Reports any other checkpoint. */
export function isCheckpointAttested(
  db: Queryable,
  account: Checkpoint & Pick<EntryRange, 'accountId' | 'after'>,
): boolean {
  const { accountId, after: entry, checkedMinor, checkedUnattestedMinor, checkpointAttestation } = account;
  if (entry === 0n) return true;
  const row = { accountId, entry, balanceMinor: checkedMinor, unattestedMinor: checkedUnattestedMinor };
  return attestedCheckpoints.isAttested(db, { ...row, attestation: checkpointAttestation });
}

const FIND_MOVED = statement('ledger_find_moved_accounts')`
  WITH moved AS (
    SELECT a.id, a.entry_count, a.balance_minor, ${CHECKPOINT}
    FROM ledger_accounts a LEFT JOIN ledger_checkpoints c ON c.account_id = a.id
    WHERE a.merchant_id IS NOT NULL AND a.id > $1 AND a.id <= $4
      AND (a.entry_count <> coalesce(c.entry, 0) OR a.balance_minor <> coalesce(c.balance_minor, 0))
    ORDER BY a.id LIMIT $2)
  SELECT moved.id AS account_id, moved.after, moved.checked_minor, moved.checked_unattested_minor, moved.checkpoint_attestation,
    ends.entry, (moved.checked_minor + read.sum_minor)::bigint AS balance_minor,
    read.entries = ends.entry - moved.after AND read.are_right
      AND (ends.entry < moved.entry_count OR moved.checked_minor + read.sum_minor = moved.balance_minor) AS adds_up,
    ends.entry < moved.entry_count AS has_more
  FROM moved
  CROSS JOIN LATERAL (SELECT least(moved.entry_count, moved.after + $3::bigint) AS entry) AS ends
  CROSS JOIN LATERAL (
    SELECT count(*) AS entries, coalesce(sum(amount_minor), 0) AS sum_minor,
      coalesce(bool_and(balance_minor = moved.checked_minor + running_minor), true) AS are_right
    FROM (
      SELECT amount_minor, balance_minor, sum(amount_minor) OVER (ORDER BY entry) AS running_minor
      FROM (
        SELECT credit_entry AS entry, amount_minor, credit_balance_minor AS balance_minor FROM ledger_transfers
        WHERE credit_account_id = moved.id AND credit_entry > moved.after AND credit_entry <= ends.entry
        UNION ALL
        SELECT debit_entry, -amount_minor, debit_balance_minor FROM ledger_transfers
        WHERE debit_account_id = moved.id AND debit_entry > moved.after AND debit_entry <= ends.entry) AS entries) AS read) AS read
  ORDER BY moved.id`;

/**
 * The next merchants' accounts of the range that changed since their checkpoint, at most `accounts`, each with at most `entries` of its
 * entries. One snapshot.
 */
export async function findMovedAccounts(
  db: Queryable,
  { after, to }: IdRange,
  { accounts, entries }: { readonly accounts: number; readonly entries: number },
): Promise<MovedAccount[]> {
  return db.run<MovedAccount>(FIND_MOVED, [after, accounts, entries, to]);
}

const RECORD = statement('ledger_checkpoint_record')`
  WITH checked AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
      AS checked (account_id, entry, balance_minor, unattested_minor, attestation, attestation_before)),
  moved AS (
    UPDATE ledger_checkpoints p SET entry = c.entry, balance_minor = c.balance_minor, unattested_minor = c.unattested_minor,
      attestation = c.attestation, checked_at = now()
    FROM checked c WHERE p.account_id = c.account_id AND p.entry < c.entry AND p.attestation = c.attestation_before)
  INSERT INTO ledger_checkpoints (account_id, entry, balance_minor, unattested_minor, attestation)
  SELECT account_id, entry, balance_minor, unattested_minor, attestation FROM checked WHERE attestation_before IS NULL
  ON CONFLICT (account_id) DO NOTHING`;

/** An account whose entries were checked, with the unattested part of its balance. */
export type CheckedAccount = Pick<MovedAccount, 'accountId' | 'entry' | 'balanceMinor' | 'checkpointAttestation'> & {
  readonly unattestedMinor: bigint;
};

/**
 * Attests and writes the checkpoints of accounts whose checkpoint has not changed since it was read. A checkpoint that another process
 * wrote since stays, and the next check starts from it. The database refuses a checkpoint whose balance is not that of its entry.
 */
export async function recordCheckpoints(db: Queryable, accounts: readonly CheckedAccount[]): Promise<void> {
  if (accounts.length === 0) return;
  const attestations = accounts.map(({ checkpointAttestation: attestation, ...account }) =>
    attestedCheckpoints.next(db, { ...account, attestation }),
  );
  const columns = columnsOf(accounts, 'accountId', 'entry', 'balanceMinor', 'unattestedMinor');
  await db.run(RECORD, [...columns, attestations, ...columnsOf(accounts, 'checkpointAttestation')]);
}

const FUNDS = statement('ledger_funds_of_merchant')`
  SELECT a.id AS account_id, a.entry_count AS entry, ${CHECKPOINT},
    a.balance_minor - reserved_by_refunds($2) AS spendable_minor
  FROM ledger_accounts a LEFT JOIN ledger_checkpoints c ON c.account_id = a.id WHERE a.id = $1 AND a.merchant_id = $2`;

/** An available account up to its newest entry, and its balance less the money of pending refunds. */
export type Funds = EntryRange & Checkpoint & { readonly spendableMinor: bigint };

/** Reads the funds in one snapshot. */
export async function findFunds(db: Queryable, merchantId: MerchantId): Promise<Funds> {
  const funds = await findOne<Funds>(db, FUNDS, [availableAccount(merchantId), merchantId]);
  if (!funds) throw new Error(`merchant ${merchantId} has no available account`);
  return funds;
}

const ACCOUNTS = statement('ledger_accounts_with_checkpoints')`
  SELECT a.id AS account_id, a.entry_count AS entry, ${CHECKPOINT}
  FROM ledger_accounts a LEFT JOIN ledger_checkpoints c ON c.account_id = a.id
  WHERE a.kind = 'available' AND a.id > $1 AND a.id <= $2 ORDER BY a.id`;

/** The available accounts of the range, up to their newest entries. */
export async function findAvailableAccounts(
  db: Queryable,
  { after, to }: IdRange,
): Promise<(EntryRange & Checkpoint)[]> {
  return db.run<EntryRange & Checkpoint>(ACCOUNTS, [after, to]);
}

const LAST_EVENT = statement('ledger_last_event_of_range')`
  SELECT max(id) AS id FROM (SELECT id FROM events WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS range`;

/** The last of the next `limit` events after the id `after` and before the id `before`; null if there is none. */
export async function findLastEvent(
  db: Queryable,
  { after, before, limit }: { readonly after: string; readonly before: string; readonly limit: number },
): Promise<EventId | null> {
  return (await findOne<{ id: EventId | null }>(db, LAST_EVENT, [after, before, limit]))?.id ?? null;
}

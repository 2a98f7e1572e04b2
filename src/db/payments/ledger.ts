// The ledger's accounts and checks. Transfers are written with their change, and the database updates the balances.
import type { ApiKeyId, MerchantId } from '../../domain/ids.ts';
import { availableAccount, heldAccount } from '../../domain/payments/ledger.ts';
import { driftFault, type LedgerFault } from '../../domain/payments/ledger-fault.ts';
import type { Currency } from '../../domain/money.ts';
import { findOne, statement, type Queryable, type Statement, type Tx } from '../platform/database.ts';
import type { IdRange } from './unposted.ts';

const ENSURE_OPERATOR_ACCOUNT = statement('ledger_account_ensure_operator')`
  INSERT INTO ledger_accounts (id, kind, operator, currency)
  VALUES ('operator/' || $1::text || '/' || $2::text, 'operator', $1, $2) ON CONFLICT (id) DO NOTHING`;

export async function ensureOperatorAccount(db: Queryable, operator: string, currency: Currency): Promise<void> {
  await db.run(ENSURE_OPERATOR_ACCOUNT, [operator, currency]);
}

const BALANCE = statement('ledger_account_balance')`
  SELECT available.balance_minor AS available_minor, held.balance_minor AS held_minor, available.currency
  FROM ledger_accounts available, ledger_accounts held WHERE available.id = $1 AND held.id = $2`;

export type Balance = { readonly availableMinor: bigint; readonly heldMinor: bigint; readonly currency: Currency };

/** The available and held balances as of one instant. Every merchant has both accounts from its creation on. */
export async function getBalance(db: Queryable, merchantId: MerchantId): Promise<Balance> {
  const balance = await findOne<Balance>(db, BALANCE, [availableAccount(merchantId), heldAccount(merchantId)]);
  if (!balance) throw new Error(`merchant ${merchantId} has no ledger accounts`);
  return balance;
}

const LAST_OF = {
  account: lastStatement('ledger_accounts', ' AND merchant_id IS NOT NULL'),
  payment: lastStatement('payments'),
} as const;

function lastStatement(table: string, more = ''): Statement {
  return statement(`${table}_last_of_range`)`
    SELECT max(id) AS id FROM (SELECT id FROM ${table} WHERE id > $1${more} ORDER BY id LIMIT $2) AS range`;
}

/** The last of the next `limit` merchants' accounts or payments after this id; null if there is none. */
export async function findLastOfRange(
  db: Queryable,
  noun: keyof typeof LAST_OF,
  after: string,
  limit: number,
): Promise<string | null> {
  return (await findOne<{ id: string | null }>(db, LAST_OF[noun], [after, limit]))?.id ?? null;
}

const DRIFT = statement('ledger_drift')`
  SELECT a.id FROM ledger_accounts a LEFT JOIN ledger_entries e ON e.account_id = a.id
  WHERE a.merchant_id IS NOT NULL AND a.id > $1 AND a.id <= $2 GROUP BY a.id
  HAVING a.balance_minor <> coalesce(sum(e.amount_minor), 0) ORDER BY a.id LIMIT 100`;

/** Accounts whose balance is not the sum of their entries. There are none unless somebody bypassed the database's checks. */
export async function findBalanceDrift(db: Queryable, { after, to }: IdRange): Promise<LedgerFault[]> {
  return (await db.run<{ id: string }>(DRIFT, [after, to])).map(({ id }) => driftFault(id));
}

const FIND_UNDECIDED = statement('ledger_find_undecided')`
  SELECT id, state FROM payments
  WHERE kind IN ('payout', 'reversal') AND state IN ('released', 'reconciling')
    AND updated_at < now() - make_interval(days => $1)
  ORDER BY updated_at, id LIMIT $2`;

/**
 * Payouts and refunds that have had no outcome for more than `days` days since their release or last status, oldest first, at most
 * `limit`. Only the operator can end a payment that is reconciling. A payment that is still released was never sent, or its workflow
 * is held up.
 */
export async function findUndecided(db: Queryable, days: number, limit: number): Promise<LedgerFault[]> {
  const rows = await db.run<{ id: string; state: 'released' | 'reconciling' }>(FIND_UNDECIDED, [days, limit]);
  return rows.map(({ id, state }) => ({ subject: id, fault: undecidedFault(state, days) }));
}

function undecidedFault(state: 'released' | 'reconciling', days: number): string {
  return state === 'reconciling'
    ? `for more than ${days} days the operator has not said whether it was paid: ask the operator`
    : `it was released more than ${days} days ago and has no outcome: see its workflow, and ask the operator`;
}

/** A call that locks the merchant's available account and returns the columns that `Spendable` has. */
export function lockSpendableOf(merchantId: string, account: string, apiKeyId: string): string {
  return `lock_spendable(${merchantId}, ${account}, ${apiKeyId})`;
}

const LOCK_SPENDABLE = statement('ledger_account_lock_spendable')`
  SELECT spendable_minor, reserved_minor, queued_of_key_minor FROM ${lockSpendableOf('$1', '$2', '$3')}`;

export type Spendable = {
  /** The available balance less the money of pending refunds, including queued refunds. */
  readonly spendableMinor: bigint;
  /** The money of pending refunds, including queued refunds. */
  readonly reservedMinor: bigint;
  /** The total held by the queued payouts of the API key; null without an API key. */
  readonly queuedOfKeyMinor: bigint | null;
};

/**
 * Locks the merchant's available account and returns the money that the merchant can still spend on a payout or refund. No other
 * transfer, payout or refund can change the amount until the transaction ends; all that was committed before the lock counts.
 */
export async function lockSpendable(
  tx: Tx,
  merchantId: MerchantId,
  apiKeyId: ApiKeyId | null = null,
): Promise<Spendable> {
  const found = await findOne<Spendable>(tx, LOCK_SPENDABLE, [merchantId, availableAccount(merchantId), apiKeyId]);
  if (!found) throw new Error(`merchant ${merchantId} has no available account`);
  return found;
}

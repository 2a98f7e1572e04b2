// Rows of payouts, each with its approvals.
import type { MerchantId, PayoutId } from '../../domain/ids.ts';
import type { Payout, PayoutState } from '../../domain/payments/payout.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { APPROVALS_COLUMN, toApprovals, type ApprovalsInRow } from './approval.ts';
import { paymentReads, type PaymentFilter } from './payment-reads.ts';

type PayoutRow = Omit<Payout, 'approvals'> & {
  readonly approvals: ApprovalsInRow;
};

const reads = paymentReads({
  kind: 'payout',
  prefix: 'pay',
  columns: `created_by, api_key_id, approvals_required, decided_by, rejection_reason, expires_at, send_deadline_at,
  request_attestation, release_attestation,
  send_begun_at, accepted_at, not_found_count, not_found_since, not_found_last_at,
  ${APPROVALS_COLUMN}`,
  toPayment: ({ approvals, ...payout }: PayoutRow): Payout => ({ ...payout, approvals: toApprovals(approvals) }),
});

export const findPayout = reads.find;

const LOCK = statement('payout_lock', 'SELECT 1 FROM payments WHERE merchant_id = $1 AND id = $2 FOR NO KEY UPDATE');

/** The payout, locked: nobody else changes or approves it until the transaction ends. */
export async function findPayoutLocked(tx: Tx, merchantId: MerchantId, id: PayoutId): Promise<Payout | null> {
  // Two statements: a single one would read the approvals as they were before it waited for the lock.
  await tx.run(LOCK, [merchantId, id]);
  return findPayout(tx, merchantId, id);
}

const LOCK_MANY = statement(
  'payout_lock_many',
  'SELECT 1 FROM payments WHERE merchant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE',
);

/**
 * Locks the payouts: nobody else changes or approves them until the transaction ends. They are locked in the order of
 * their ids, so that two callers never wait for each other.
 */
export async function lockPayouts(tx: Tx, merchantId: MerchantId, ids: readonly string[]): Promise<void> {
  await tx.run(LOCK_MANY, [merchantId, ids]);
}

const LIST_OF_KEYS = statement(
  'payout_list_of_keys',
  `SELECT DISTINCT ON (idempotency_key) idempotency_key, id, state, created_at FROM payments
   WHERE merchant_id = $1 AND kind = 'payout' AND lower(idempotency_key) = ANY($3) AND idempotency_key = ANY($2) ORDER BY idempotency_key, id DESC`,
);

/** A payout, and the idempotency key that it was created with. */
export type KeyedPayout = Pick<Payout, 'idempotencyKey' | 'id' | 'state' | 'createdAt'>;

/** The newest payout of each of these idempotency keys, also of those that have expired. */
export function listPayoutsOfKeys(
  db: Queryable,
  merchantId: MerchantId,
  keys: readonly string[],
): Promise<KeyedPayout[]> {
  // The index has them in small letters.
  const lowerKeys = keys.map((key) => key.toLowerCase());
  return db.run<KeyedPayout>(LIST_OF_KEYS, [merchantId, keys, lowerKeys]);
}

/** Searches all merchants: only for callbacks, in which an operator names nothing but the operator reference. */
export const findPayoutByOperatorReference = reads.findByOperatorReference;

export type PayoutFilter = PaymentFilter<PayoutState, PayoutId>;

/** The newest payouts that pass the filter, at most `limit`. */
export const listPayouts = reads.list;

/** The payouts of one page of the console's list. */
export const pagePayouts = reads.page;

export const countPayouts = reads.count;

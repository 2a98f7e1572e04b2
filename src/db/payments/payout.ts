// Rows of payouts, each with its approvals.
import type { FailureCode } from '../../domain/payments/failure.ts';
import type { ApiKeyId, MerchantId, PayoutId, UserId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { Payout, PayoutState } from '../../domain/payments/payout.ts';
import { statement, type Queryable, type Tx } from '../database.ts';
import { listStatement, type PaymentFilter } from './payment-list.ts';

type PayoutRow = {
  id: PayoutId;
  merchant_id: MerchantId;
  idempotency_key: string;
  state: PayoutState;
  previous_state: PayoutState | null;
  version: number;
  amount_minor: string;
  currency: Currency;
  reference: string;
  phone: string;
  operator: OperatorId;
  operator_reference: string;
  description: string | null;
  metadata: Record<string, string>;
  failure_code: FailureCode | null;
  amount_reversed_minor: string;
  created_by: UserId;
  api_key_id: ApiKeyId | null;
  approvals_required: number;
  approvals: { user_id: UserId; approved_at_ms: number }[] | null;
  decided_by: UserId | null;
  rejection_reason: string | null;
  created_at: Date;
  updated_at: Date;
  expires_at: Date;
  send_deadline_at: Date | null;
  accepted_at: Date | null;
};

const COLUMNS = `id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference, phone,
  operator, operator_reference, description, metadata, failure_code, amount_reversed_minor, created_by, api_key_id,
  approvals_required, decided_by, rejection_reason, created_at, updated_at, expires_at, send_deadline_at,
  accepted_at,
  (SELECT json_agg(json_build_object('user_id', a.user_id, 'approved_at_ms',
                                     round(extract(epoch FROM a.approved_at) * 1000)) ORDER BY a.approved_at, a.user_id)
   FROM payout_approvals a WHERE a.payout_id = payouts.id) AS approvals`;

const FIND = statement('payout_find', `SELECT ${COLUMNS} FROM payouts WHERE merchant_id = $1 AND id = $2`);

export async function findPayout(db: Queryable, merchantId: MerchantId, id: PayoutId): Promise<Payout | null> {
  const [row] = await db.run<PayoutRow>(FIND, [merchantId, id]);
  return row ? toPayout(row) : null;
}

const LOCK = statement('payout_lock', 'SELECT 1 FROM payouts WHERE merchant_id = $1 AND id = $2 FOR NO KEY UPDATE');

/** The payout, locked: nobody else changes or approves it until the transaction ends. */
export async function findPayoutLocked(tx: Tx, merchantId: MerchantId, id: PayoutId): Promise<Payout | null> {
  // Two statements: a single one would read the approvals as they were before it waited for the lock.
  await tx.run(LOCK, [merchantId, id]);
  return findPayout(tx, merchantId, id);
}

const LOCK_MANY = statement(
  'payout_lock_many',
  'SELECT 1 FROM payouts WHERE merchant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE',
);

/**
 * Locks the payouts: nobody else changes or approves them until the transaction ends. They are locked in the order of
 * their ids, so that two callers never wait for each other.
 */
export async function lockPayouts(tx: Tx, merchantId: MerchantId, ids: readonly string[]): Promise<void> {
  await tx.run(LOCK_MANY, [merchantId, ids]);
}

const FIND_BY_OPERATOR_REFERENCE = statement(
  'payout_find_by_operator_reference',
  `SELECT ${COLUMNS} FROM payouts WHERE operator_reference = $1 AND operator = $2`,
);

/** Searches all merchants: only for callbacks, in which an operator names nothing but the operator reference. */
export async function findPayoutByOperatorReference(
  db: Queryable,
  operator: OperatorId,
  operatorReference: string,
): Promise<Payout | null> {
  const [row] = await db.run<PayoutRow>(FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]);
  return row ? toPayout(row) : null;
}

export type PayoutFilter = PaymentFilter<PayoutState, PayoutId>;

/** The newest payouts that pass the filter, at most `limit`. */
export async function listPayouts(
  db: Queryable,
  merchantId: MerchantId,
  filter: PayoutFilter,
  limit: number,
): Promise<Payout[]> {
  const { query, values } = listStatement({ table: 'payouts', prefix: 'pay', columns: COLUMNS }, filter);
  const rows = await db.run<PayoutRow>(query, [merchantId, limit, ...values]);
  return rows.map(toPayout);
}

function toPayout(row: PayoutRow): Payout {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    idempotencyKey: row.idempotency_key,
    state: row.state,
    previousState: row.previous_state,
    version: row.version,
    amountMinor: BigInt(row.amount_minor),
    currency: row.currency,
    reference: row.reference,
    phone: row.phone,
    operator: row.operator,
    operatorReference: row.operator_reference,
    description: row.description,
    metadata: row.metadata,
    failureCode: row.failure_code,
    amountReversedMinor: BigInt(row.amount_reversed_minor),
    createdBy: row.created_by,
    apiKeyId: row.api_key_id,
    approvalsRequired: row.approvals_required,
    approvals: (row.approvals ?? []).map(({ user_id: userId, approved_at_ms: ms }) => ({
      userId,
      approvedAt: new Date(ms),
    })),
    decidedBy: row.decided_by,
    rejectionReason: row.rejection_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    sendDeadlineAt: row.send_deadline_at,
    acceptedAt: row.accepted_at,
  };
}

// Rows of reversals that makers requested, each with its approvals.
import type { CollectionId, MerchantId, ReversalId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { Reversal, ReversalState } from '../../domain/payments/reversal.ts';
import {
  composedStatement,
  findOne,
  statement,
  type Queryable,
  type Statement,
  type Tx,
} from '../platform/database.ts';
import { approvalsColumn, toApprovals, type ApprovalsInRow } from './approval.ts';
import { entryOf } from '../../domain/payments/state-change.ts';

const SELECT = `SELECT 'reversal' AS kind, r.id, r.merchant_id, r.collection_id, c.operator, c.amount_minor, c.currency, c.phone, c.reference,
    c.operator_reference AS collection_operator_reference, r.state, r.operator_reference, r.failure_code,
    r.requested_by AS created_by, r.request_id, r.approvals_required, ${approvalsColumn('reversal', 'r.id')}, r.decided_by,
    r.rejection_reason, r.created_at, r.updated_at, r.expires_at, r.send_deadline_at, r.request_attestation, r.release_attestation,
    r.send_begun_at, r.accepted_at, r.not_found_count, r.not_found_since, r.not_found_last_at,
    c.state = 'reversed' AS is_collection_returned
  FROM reversals r JOIN collections c ON c.id = r.collection_id`;

type ReversalRow = Omit<Reversal, 'approvals'> & { readonly approvals: ApprovalsInRow };

function toReversal({ approvals, ...reversal }: ReversalRow): Reversal {
  return { ...reversal, approvals: toApprovals(approvals) };
}

async function find(db: Queryable, query: Statement, values: readonly unknown[]): Promise<Reversal | null> {
  const row = await findOne<ReversalRow>(db, query, values);
  return row && toReversal(row);
}

// Its workflow ends it at the expiry by itself, so it is checked a little later.
const INSERT = statement(
  'reversal_insert',
  `INSERT INTO reversals (id, merchant_id, collection_id, state, operator_reference, requested_by, approvals_required,
     created_at, updated_at, expires_at, check_due_at, request_attestation, request_id)
   VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, $7, $8, $8::timestamptz + interval '1 minute', $9, $10)
   ON CONFLICT (collection_id) WHERE state NOT IN ('failed', 'rejected', 'cancelled', 'expired') DO NOTHING RETURNING 1`,
);

/** False, and nothing is written, when the collection has a reversal that is pending or succeeded. */
export async function insertReversal(tx: Tx, reversal: Reversal): Promise<boolean> {
  const rows = await tx.run(INSERT, [
    reversal.id,
    reversal.merchantId,
    reversal.collectionId,
    reversal.operatorReference,
    reversal.createdBy,
    reversal.approvalsRequired,
    reversal.createdAt,
    reversal.expiresAt,
    reversal.requestAttestation,
    reversal.requestId,
  ]);
  if (rows.length === 0) return false;
  tx.announce(entryOf(reversal, { from: null, eventId: null }));
  return true;
}

const FIND = statement('reversal_find', `${SELECT} WHERE r.merchant_id = $1 AND r.id = $2`);

export async function findReversal(db: Queryable, merchantId: MerchantId, id: ReversalId): Promise<Reversal | null> {
  return find(db, FIND, [merchantId, id]);
}

const LOCK = statement('reversal_lock', 'SELECT 1 FROM reversals WHERE merchant_id = $1 AND id = $2 FOR NO KEY UPDATE');

/** The reversal, locked: nobody else changes or approves it until the transaction ends. */
export async function findReversalLocked(tx: Tx, merchantId: MerchantId, id: ReversalId): Promise<Reversal | null> {
  // Two statements: a single one would read the approvals as they were before it waited for the lock.
  await tx.run(LOCK, [merchantId, id]);
  return findReversal(tx, merchantId, id);
}

const FIND_LATEST = statement(
  'reversal_find_latest',
  `${SELECT} WHERE r.merchant_id = $1 AND r.collection_id = $2 ORDER BY r.id DESC LIMIT 1`,
);

export async function findLatestReversal(
  db: Queryable,
  merchantId: MerchantId,
  collectionId: CollectionId,
): Promise<Reversal | null> {
  return find(db, FIND_LATEST, [merchantId, collectionId]);
}

const FIND_BY_OPERATOR_REFERENCE = statement(
  'reversal_find_by_operator_reference',
  `${SELECT} WHERE r.operator_reference = $1 AND c.operator = $2`,
);

/** Searches all merchants: only for callbacks, in which an operator names nothing but the operator reference. */
export async function findReversalByOperatorReference(
  db: Queryable,
  operator: OperatorId,
  operatorReference: string,
): Promise<Reversal | null> {
  return find(db, FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]);
}

export type ReversalFilter = {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly ReversalState[];
  /** Only reversals with an older id than this. */
  readonly before?: ReversalId;
};

/** The newest reversals of the merchant that pass the filter, at most `limit`. */
export async function listReversals(
  db: Queryable,
  merchantId: MerchantId,
  { states, before }: ReversalFilter,
  limit: number,
): Promise<Reversal[]> {
  const values: unknown[] = [merchantId, limit];
  const place = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    'r.merchant_id = $1',
    ...(states === undefined ? [] : [`r.state = ANY(${place(states)})`]),
    ...(before === undefined ? [] : [`r.id < ${place(before)}`]),
  ];
  const text = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY r.id DESC LIMIT $2`;
  return (await db.run<ReversalRow>(composedStatement('reversals_list', text), values)).map(toReversal);
}

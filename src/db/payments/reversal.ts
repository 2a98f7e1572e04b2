// Rows of refunds, each with its approvals and what its collection says of it.
import { isId, type CollectionId, type MerchantId, type ReversalId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { paymentNotFound } from '../../domain/errors.ts';
import type { Reversal, ReversalState } from '../../domain/payments/reversal.ts';
import {
  composedStatement,
  findOne,
  statement,
  type Queryable,
  type Statement,
  type Tx,
} from '../platform/database.ts';
import { readPage, type Page } from '../platform/page.ts';
import { APPROVALS_COLUMN, toApprovals, type ApprovalsInRow } from './approval.ts';
import { entryOf } from '../../domain/payments/state-change.ts';

const SELECT = `SELECT payments.id, payments.kind, payments.merchant_id, payments.collection_id, payments.operator,
    payments.amount_minor, payments.currency, payments.phone, payments.reference, payments.state, payments.operator_reference, payments.failure_code, payments.created_by,
    payments.request_id, payments.approvals_required, ${APPROVALS_COLUMN}, payments.decided_by, payments.rejection_reason,
    payments.created_at, payments.updated_at, payments.expires_at, payments.send_deadline_at, payments.request_attestation,
    payments.release_attestation, payments.send_begun_at, payments.accepted_at, payments.not_found_count, payments.not_found_since,
    payments.not_found_last_at, c.operator_reference AS collection_operator_reference, c.state = 'reversed' AS is_collection_returned
  FROM payments JOIN payments c ON c.id = payments.collection_id`;

type ReversalRow = Omit<Reversal, 'approvals'> & { readonly approvals: ApprovalsInRow };

function toReversal({ approvals, ...reversal }: ReversalRow): Reversal {
  return { ...reversal, approvals: toApprovals(approvals) };
}

async function find(db: Queryable, query: Statement, values: readonly unknown[]): Promise<Reversal | null> {
  const row = await findOne<ReversalRow>(db, query, values);
  return row && toReversal(row);
}

// Its workflow ends it at the expiry by itself, so it is checked a little later.
const INSERT = statement('reversal_insert')`
  INSERT INTO payments (id, kind, merchant_id, collection_id, state, operator_reference, created_by, approvals_required,
    created_at, updated_at, expires_at, check_due_at, request_attestation, request_id, operator, amount_minor, currency, phone,
    reference)
  VALUES ($1, 'reversal', $2, $3, 'queued', $4, $5, $6, $7, $7, $8, $8::timestamptz + interval '1 minute', $9, $10, $11, $12, $13,
    $14, $15)
  ON CONFLICT (collection_id) WHERE collection_id IS NOT NULL AND state NOT IN ('failed', 'rejected', 'cancelled', 'expired')
  DO NOTHING RETURNING 1`;

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
    reversal.operator,
    reversal.amountMinor,
    reversal.currency,
    reversal.phone,
    reversal.reference,
  ]);
  if (rows.length === 0) return false;
  tx.announce(entryOf(reversal, { from: null, eventId: null }));
  return true;
}

const FIND = statement('reversal_find')`${SELECT} WHERE payments.merchant_id = $1 AND payments.id = $2`;

export async function findReversal(db: Queryable, merchantId: MerchantId, id: ReversalId): Promise<Reversal | null> {
  return find(db, FIND, [merchantId, id]);
}

/** Throws `reversal_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export async function getReversal(db: Queryable, merchantId: MerchantId, id: string): Promise<Reversal> {
  const reversal = isId('rev', id) ? await findReversal(db, merchantId, id) : null;
  if (!reversal) throw paymentNotFound('reversal');
  return reversal;
}

const FIND_LATEST = statement('reversal_find_latest')`
  ${SELECT} WHERE payments.merchant_id = $1 AND payments.collection_id = $2 ORDER BY payments.id DESC LIMIT 1`;

export async function findLatestReversal(
  db: Queryable,
  merchantId: MerchantId,
  collectionId: CollectionId,
): Promise<Reversal | null> {
  return find(db, FIND_LATEST, [merchantId, collectionId]);
}

const FIND_BY_OPERATOR_REFERENCE = statement('reversal_find_by_operator_reference')`
  ${SELECT} WHERE payments.operator_reference = $1 AND payments.operator = $2`;

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

/** A page of the newest reversals of the merchant that pass the filter. */
export async function listReversals(
  db: Queryable,
  merchantId: MerchantId,
  { states, before }: ReversalFilter,
  limit: number,
): Promise<Page<Reversal>> {
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value) + 2}`;
  const conditions = [
    "payments.merchant_id = $1 AND payments.kind = 'reversal'",
    ...(states === undefined ? [] : [`payments.state = ANY(${place(states)})`]),
    ...(before === undefined ? [] : [`payments.id < ${place(before)}`]),
  ];
  const text = `${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY payments.id DESC LIMIT $2`;
  const query = composedStatement('reversals_list', text);
  return readPage(limit, async (count) =>
    (await db.run<ReversalRow>(query, [merchantId, count, ...values])).map(toReversal),
  );
}

// Rows of reversals that approvers requested.
import type { CollectionId, MerchantId, ReversalId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { ReversalChange } from '../../domain/payments/reversal-change.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { firstCheckAt } from '../../domain/work.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

const SELECT = `SELECT r.id, r.merchant_id, r.collection_id, c.operator, r.state, r.operator_reference, r.failure_code,
    r.requested_by, r.created_at, r.updated_at, r.send_deadline_at, r.send_begun_at,
    r.accepted_at, r.not_found_count, r.not_found_since, r.not_found_last_at,
    c.state = 'reversed' AS is_collection_returned
  FROM reversals r JOIN collections c ON c.id = r.collection_id`;

const INSERT = statement(
  'reversal_insert',
  `INSERT INTO reversals (id, merchant_id, collection_id, state, operator_reference, requested_by, created_at, updated_at,
     send_deadline_at, check_due_at)
   VALUES ($1, $2, $3, 'requested', $4, $5, $6, $6, $7, $8)
   ON CONFLICT (collection_id) WHERE state <> 'failed' DO NOTHING RETURNING 1`,
);

/** False, and nothing is written, when the collection has a reversal that is pending or succeeded. */
export async function insertReversal(tx: Tx, reversal: Reversal): Promise<boolean> {
  const rows = await tx.run(INSERT, [
    reversal.id,
    reversal.merchantId,
    reversal.collectionId,
    reversal.operatorReference,
    reversal.requestedBy,
    reversal.createdAt,
    reversal.sendDeadlineAt,
    firstCheckAt(reversal.createdAt, reversal.sendDeadlineAt),
  ]);
  return rows.length === 1;
}

const FIND = statement('reversal_find', `${SELECT} WHERE r.merchant_id = $1 AND r.id = $2`);

export async function findReversal(db: Queryable, merchantId: MerchantId, id: ReversalId): Promise<Reversal | null> {
  return findOne<Reversal>(db, FIND, [merchantId, id]);
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
  return findOne<Reversal>(db, FIND_LATEST, [merchantId, collectionId]);
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
  return findOne<Reversal>(db, FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]);
}

const UPDATE = statement(
  'reversal_update',
  `UPDATE reversals SET state = $3, failure_code = $4, failed_by = $9, updated_at = $5, check_due_at = $6,
     workflow_started_at = coalesce(workflow_started_at, $5), workflow_failures = 0, start_failures = 0
   WHERE id = $1 AND state = $2 AND (accepted_at IS NULL OR NOT $7) AND (send_begun_at IS NULL OR NOT $8) RETURNING 1`,
);

/** Compare-and-set, as for payouts: false when the reversal has changed since, and nothing is written. */
export async function updateReversal(
  tx: Tx,
  { before, after, checkDueAt, failedBy, requiresNotAccepted, requiresNotSent }: ReversalChange,
): Promise<boolean> {
  const values = [
    before.id,
    before.state,
    after.state,
    after.failureCode,
    after.updatedAt,
    checkDueAt,
    requiresNotAccepted,
    requiresNotSent,
    failedBy,
  ];
  return (await tx.run(UPDATE, values)).length === 1;
}

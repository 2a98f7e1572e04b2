// Rows of collections.
import type { Collection, CollectionState } from '../../domain/payments/collection.ts';
import type { FailureCode } from '../../domain/payments/failure.ts';
import { lowestIdAt, type CollectionId, type MerchantId } from '../../domain/ids.ts';
import type { Currency } from '../../domain/money.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { statement, type Queryable, type Tx } from '../database.ts';
import { listStatement, type PaymentFilter } from './payment-list.ts';

type CollectionRow = {
  id: CollectionId;
  merchant_id: MerchantId;
  idempotency_key: string;
  state: CollectionState;
  previous_state: CollectionState | null;
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
  created_at: Date;
  updated_at: Date;
  prompt_deadline_at: Date;
  prompt_expires_at: Date | null;
};

const COLUMNS = `id, merchant_id, idempotency_key, state, previous_state, version, amount_minor, currency, reference, phone,
  operator, operator_reference, description, metadata, failure_code, amount_reversed_minor, created_at, updated_at,
  prompt_deadline_at, prompt_expires_at`;

const INSERT = statement(
  'collection_insert',
  `INSERT INTO collections (id, merchant_id, idempotency_key, state, amount_minor, currency, reference, phone, operator,
     operator_reference, description, metadata, created_at, updated_at, prompt_deadline_at, check_due_at)
   VALUES ($1, $2, $3, 'initiated', $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $13)`,
);

/** Inserts a collection as made: `initiated`, version 0. */
export async function insertCollection(tx: Tx, collection: Collection): Promise<void> {
  await tx.run(INSERT, [
    collection.id,
    collection.merchantId,
    collection.idempotencyKey,
    collection.amountMinor,
    collection.currency,
    collection.reference,
    collection.phone,
    collection.operator,
    collection.operatorReference,
    collection.description,
    JSON.stringify(collection.metadata),
    collection.createdAt,
    collection.promptDeadlineAt,
  ]);
}

const FIND = statement('collection_find', `SELECT ${COLUMNS} FROM collections WHERE merchant_id = $1 AND id = $2`);

export async function findCollection(
  db: Queryable,
  merchantId: MerchantId,
  id: CollectionId,
): Promise<Collection | null> {
  const [row] = await db.run<CollectionRow>(FIND, [merchantId, id]);
  return row ? toCollection(row) : null;
}

const FIND_BY_OPERATOR_REFERENCE = statement(
  'collection_find_by_operator_reference',
  `SELECT ${COLUMNS} FROM collections WHERE operator_reference = $1 AND operator = $2`,
);

/** Of whichever merchant: only for what an operator tells us, which names nothing but its own reference. */
export async function findCollectionByOperatorReference(
  db: Queryable,
  operator: OperatorId,
  operatorReference: string,
): Promise<Collection | null> {
  const [row] = await db.run<CollectionRow>(FIND_BY_OPERATOR_REFERENCE, [operatorReference, operator]);
  return row ? toCollection(row) : null;
}

export type CollectionFilter = PaymentFilter<CollectionState, CollectionId>;

/** The newest collections that pass the filter, at most `limit`. */
export async function listCollections(
  db: Queryable,
  merchantId: MerchantId,
  filter: CollectionFilter,
  limit: number,
): Promise<Collection[]> {
  const { query, values } = listStatement({ table: 'collections', prefix: 'col', columns: COLUMNS }, filter);
  const rows = await db.run<CollectionRow>(query, [merchantId, limit, ...values]);
  return rows.map(toCollection);
}

export type NotStarted = {
  readonly id: CollectionId;
  readonly merchantId: MerchantId;
  readonly idempotencyKey: string;
  readonly operator: OperatorId;
  readonly state: CollectionState;
};
type NotStartedRow = {
  id: CollectionId;
  merchant_id: MerchantId;
  idempotency_key: string;
  operator: OperatorId;
  state: CollectionState;
};

const LIST_NOT_STARTED = statement(
  'collection_list_not_started',
  `SELECT id, merchant_id, idempotency_key, operator, state FROM collections
   WHERE workflow_started_at IS NULL AND id < $1 ORDER BY id LIMIT $2`,
);

/** The oldest collections made before `madeBefore` that no workflow is known to have been started for. */
export async function listCollectionsNotStarted(db: Queryable, madeBefore: Date, limit: number): Promise<NotStarted[]> {
  const rows = await db.run<NotStartedRow>(LIST_NOT_STARTED, [lowestIdAt('col', madeBefore.getTime()), limit]);
  return rows.map(toNotStarted);
}

const MARK_STARTED = statement(
  'collection_mark_started',
  'UPDATE collections SET workflow_started_at = $2 WHERE id = ANY($1) AND workflow_started_at IS NULL',
);

export async function markCollectionsStarted(db: Queryable, ids: readonly CollectionId[], at: Date): Promise<void> {
  await db.run(MARK_STARTED, [ids, at]);
}

const MEASURE_NOT_STARTED = statement(
  'collection_measure_not_started',
  `SELECT count(*)::int AS count, extract(epoch FROM now() - min(created_at)) * 1000 AS oldest_age_ms
   FROM (SELECT id, created_at FROM collections
         WHERE workflow_started_at IS NULL AND state = 'initiated' AND check_due_at = prompt_deadline_at
         ORDER BY id LIMIT $1) AS waiting`,
);

/**
 * How many new collections wait for their first workflow (counted up to `limit`), and for how long the oldest has. What
 * the sweep gave back, which set its next check, is old work looked at again: it says nothing of what we can take on.
 */
export async function measureCollectionsNotStarted(
  db: Queryable,
  limit: number,
): Promise<{ count: number; oldestAgeMs: number }> {
  const [row] = await db.run<{ count: number; oldest_age_ms: string | null }>(MEASURE_NOT_STARTED, [limit]);
  return { count: row?.count ?? 0, oldestAgeMs: Math.max(0, Number(row?.oldest_age_ms ?? 0)) };
}

const REQUEUE_STALE = statement(
  'collection_requeue_stale',
  `UPDATE collections
   SET workflow_started_at = NULL,
       check_due_at = CASE WHEN state IN ('succeeded', 'failed') THEN NULL WHEN state <> 'expired' THEN $2::timestamptz
                           WHEN updated_at >= $4 THEN $3::timestamptz END
   WHERE id IN (
     SELECT id FROM collections WHERE check_due_at <= $1 ORDER BY check_due_at LIMIT $5 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

/**
 * Gives collections whose check is due back to the dispatcher, which starts their workflow again if none is open.
 * For those that expired before `expiredBefore` this check is the last.
 */
export async function requeueStaleCollections(
  db: Queryable,
  options: { dueAt: Date; nextCheckAt: Date; nextLateCheckAt: Date; expiredBefore: Date; limit: number },
): Promise<CollectionId[]> {
  const { dueAt, nextCheckAt, nextLateCheckAt, expiredBefore, limit } = options;
  const values = [dueAt, nextCheckAt, nextLateCheckAt, expiredBefore, limit];
  const rows = await db.run<{ id: CollectionId }>(REQUEUE_STALE, values);
  return rows.map((row) => row.id);
}

function toNotStarted(row: NotStartedRow): NotStarted {
  const { id, operator, state } = row;
  return { id, merchantId: row.merchant_id, idempotencyKey: row.idempotency_key, operator, state };
}

function toCollection(row: CollectionRow): Collection {
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
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    promptDeadlineAt: row.prompt_deadline_at,
    promptExpiresAt: row.prompt_expires_at,
  };
}

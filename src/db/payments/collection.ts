// Rows of collections.
import type { Collection, CollectionState } from '../../domain/payments/collection.ts';
import type { FailureCode } from '../../domain/payments/failure.ts';
import type { CollectionId, MerchantId } from '../../domain/ids.ts';
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

/** Inserts a new collection: `initiated`, version 0. */
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

/** Searches all merchants: only for callbacks, in which an operator names nothing but the operator reference. */
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

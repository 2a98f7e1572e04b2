// Rows of operator callbacks, stored as they came.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { findOne, statement, type Queryable, type Statement } from '../platform/database.ts';
import { COLLECTION_COLUMNS } from './collection.ts';

export type NewOperatorCallback = {
  readonly operator: OperatorId;
  readonly payment: Pick<PaymentRef, 'kind' | 'id'>;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

/** Stores a callback under $2, unless $7 callbacks are already stored under it. */
const insertUnder = (subject: 'payment_id' | 'operator_reference') =>
  statement(`operator_callback_insert_by_${subject}`)`
  WITH earlier AS (
    SELECT count(*)::int AS count FROM (SELECT FROM operator_callbacks WHERE ${subject} = $2 LIMIT $7) AS kept),
  stored AS (
    INSERT INTO operator_callbacks (operator, ${subject}, body, content_type, source_address, received_at)
    SELECT $1, $2, $3, $4, $5, $6 FROM earlier WHERE count < $7 RETURNING id)
  SELECT earlier.count AS stored_before, EXISTS (SELECT FROM stored) AS is_kept FROM earlier`;

const INSERT = insertUnder('payment_id');
const INSERT_UNMATCHED = insertUnder('operator_reference');

const RECORD = statement('operator_callback_record')`
  WITH payment AS (SELECT ${COLLECTION_COLUMNS} FROM payments WHERE operator_reference = $1 AND kind = 'collection' AND operator = $2),
  earlier AS (
    SELECT count(*)::int AS count FROM (
      SELECT FROM operator_callbacks WHERE payment_id = (SELECT id FROM payment) LIMIT $7) AS kept),
  stored AS (
    INSERT INTO operator_callbacks (operator, payment_id, body, content_type, source_address, received_at)
    SELECT $2, payment.id, $3, $4, $5, $6 FROM payment, earlier
    WHERE count < $7 AND payment.state IN ('initiated', 'prompted', 'reconciling') RETURNING id)
  SELECT payment.*, EXISTS (SELECT FROM stored) AS is_kept FROM payment`;

/** A callback with the operator reference that it names. */
export type ReferringCallback = Omit<NewOperatorCallback, 'payment'> & { readonly operatorReference: string };

/**
 * In one statement, finds the collection with the reference, of any merchant, and stores the callback if the collection is pending and
 * has fewer than `mostPerPayment` callbacks. Null: no collection has the reference.
 */
export async function recordCallbackOfCollection(
  db: Queryable,
  callback: ReferringCallback,
  mostPerPayment: number,
): Promise<{ readonly collection: Collection; readonly isKept: boolean } | null> {
  const { operatorReference, operator, body, contentType, sourceAddress, receivedAt } = callback;
  const values = [operatorReference, operator, body, contentType, sourceAddress, receivedAt, mostPerPayment];
  const row = await findOne<Collection & { isKept: boolean }>(db, RECORD, values);
  if (row === null) return null;
  const { isKept, ...collection } = row;
  return { collection, isKept };
}

/** Whether the callback is stored, and how many callbacks were stored before. */
export type StoredCallback = { readonly isKept: boolean; readonly storedBefore: number };

/** Stores the callback unless the payment has `mostPerPayment` callbacks. */
export function insertOperatorCallback(
  db: Queryable,
  callback: NewOperatorCallback,
  mostPerPayment: number,
): Promise<StoredCallback> {
  return insertCallback(db, INSERT, { ...callback, subject: callback.payment.id }, mostPerPayment);
}

/** Stores a callback whose payment is not on record, unless its reference has `mostPerPayment` callbacks. */
export function insertUnmatchedCallback(
  db: Queryable,
  callback: ReferringCallback,
  mostPerPayment: number,
): Promise<StoredCallback> {
  return insertCallback(db, INSERT_UNMATCHED, { ...callback, subject: callback.operatorReference }, mostPerPayment);
}

async function insertCallback(
  db: Queryable,
  query: Statement,
  callback: Omit<NewOperatorCallback, 'payment'> & { readonly subject: string },
  most: number,
): Promise<StoredCallback> {
  const { operator, subject, body, contentType, sourceAddress, receivedAt } = callback;
  const values = [operator, subject, body, contentType, sourceAddress, receivedAt, most];
  return (await findOne<StoredCallback>(db, query, values)) ?? { isKept: false, storedBefore: most };
}

export const deleteOperatorCallbacks = boundedDelete('operator_callback_delete_old', {
  table: 'operator_callbacks',
  key: 'id',
  isOver: 'received_at < $1',
});

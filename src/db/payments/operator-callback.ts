// Rows of operator callbacks, stored as they came.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { COLLECTION_COLUMNS } from './collection.ts';

export type NewOperatorCallback = {
  readonly operator: OperatorId;
  readonly payment: Pick<PaymentRef, 'kind' | 'id'>;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

const INSERT = statement('operator_callback_insert')`
  WITH earlier AS (
    SELECT count(*)::int AS count FROM (SELECT 1 FROM operator_callbacks WHERE payment_id = $2 LIMIT $7) AS kept),
  stored AS (
    INSERT INTO operator_callbacks (operator, payment_id, body, content_type, source_address, received_at)
    SELECT $1, $2, $3, $4, $5, $6 FROM earlier WHERE count < $7 RETURNING id)
  SELECT earlier.count AS stored_before, EXISTS (SELECT 1 FROM stored) AS is_kept FROM earlier`;

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

/** A callback by the reference that the operator names. */
export type ReferringCallback = Omit<NewOperatorCallback, 'payment'> & { readonly operatorReference: string };

/**
 * Finds the collection with the reference, of any merchant, and stores the callback if the collection is pending and has fewer than
 * `mostPerPayment`: one statement. Null: no collection has it.
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

/** Stores the callback unless the payment has `mostPerPayment`. Returns whether it did, and the count before. */
export async function insertOperatorCallback(
  db: Queryable,
  callback: NewOperatorCallback,
  mostPerPayment: number,
): Promise<{ isKept: boolean; storedBefore: number }> {
  const { operator, payment, body, contentType, sourceAddress, receivedAt } = callback;
  const values = [operator, payment.id, body, contentType, sourceAddress, receivedAt, mostPerPayment];
  const stored = await findOne<{ isKept: boolean; storedBefore: number }>(db, INSERT, values);
  return stored ?? { isKept: false, storedBefore: mostPerPayment };
}

const KEEP_UNMATCHED = statement('operator_callback_keep_unmatched')`
  INSERT INTO operator_callbacks (operator, operator_reference, body, content_type, source_address, received_at)
  SELECT $1, $2, $3, $4, $5, $6
  WHERE (SELECT count(*) FROM (SELECT FROM operator_callbacks WHERE operator_reference = $2 LIMIT $7) AS kept) < $7
  RETURNING id`;

/** Stores a callback whose payment is not on record, unless `mostPerReference` are stored. */
export async function keepUnmatchedCallback(
  db: Queryable,
  { operator, operatorReference, body, contentType, sourceAddress, receivedAt }: ReferringCallback,
  mostPerReference: number,
): Promise<boolean> {
  const values = [operator, operatorReference, body, contentType, sourceAddress, receivedAt, mostPerReference];
  return (await db.run(KEEP_UNMATCHED, values)).length > 0;
}

export const deleteOperatorCallbacks = boundedDelete('operator_callback_delete_old', {
  table: 'operator_callbacks',
  key: 'id',
  isOver: 'received_at < $1',
});

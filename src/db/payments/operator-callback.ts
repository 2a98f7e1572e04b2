// Rows of operator callbacks, stored as they came.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../bounded-delete.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

export type NewOperatorCallback = {
  readonly operator: OperatorId;
  readonly payment: Pick<PaymentRef, 'kind' | 'id'>;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

const INSERTS = {
  collection: insertStatement('collection_id'),
  payout: insertStatement('payout_id'),
  reversal: insertStatement('reversal_id'),
} as const satisfies Record<PaymentKind, Statement>;

function insertStatement(column: string): Statement {
  return statement(
    `operator_callback_insert_${column}`,
    `WITH earlier AS (
       SELECT count(*)::int AS count FROM (SELECT 1 FROM operator_callbacks WHERE ${column} = $2 LIMIT $7) AS kept),
     stored AS (
       INSERT INTO operator_callbacks (operator, ${column}, body, content_type, source_address, received_at)
       SELECT $1, $2, $3, $4, $5, $6 FROM earlier WHERE count < $7 RETURNING id)
     SELECT earlier.count AS stored_before, EXISTS (SELECT 1 FROM stored) AS is_kept FROM earlier`,
  );
}

/**
 * Stores the callback unless the payment has `mostPerPayment` already: repeated callbacks must not fill the disk. Returns
 * whether it did, and how many were stored before.
 */
export async function insertOperatorCallback(
  db: Queryable,
  callback: NewOperatorCallback,
  mostPerPayment: number,
): Promise<{ isKept: boolean; storedBefore: number }> {
  const [row] = await db.run<{ isKept: boolean; storedBefore: number }>(INSERTS[callback.payment.kind], [
    callback.operator,
    callback.payment.id,
    callback.body,
    callback.contentType,
    callback.sourceAddress,
    callback.receivedAt,
    mostPerPayment,
  ]);
  return row ?? { isKept: false, storedBefore: mostPerPayment };
}

export const deleteOperatorCallbacks = boundedDelete('operator_callback_delete_old', {
  table: 'operator_callbacks',
  key: 'id',
  isOver: 'received_at < $1',
});

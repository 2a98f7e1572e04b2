// Rows of exchanges with operators: when we sent a payment or queried its status, how long that took and how it ended.
import type { OperatorExchange } from '../../domain/payments/operator-exchange.ts';
import type { PaymentId, PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { statement, type Queryable } from '../platform/database.ts';

/** After so many exchanges of a payment, only an exchange with a new outcome is stored. After twice as many, none is stored. */
const MOST_ALIKE = 50;

const INSERT = statement('operator_exchange_insert')`
  INSERT INTO operator_exchanges (merchant_id, payment_id, kind, started_at, duration_ms, outcome, failure_code)
  SELECT $1, $2, $3, $4, $5, $6::text, $7::text
  FROM (SELECT count(*) AS count
        FROM (SELECT FROM operator_exchanges WHERE payment_id = $2 LIMIT ${2 * MOST_ALIKE}) AS kept) AS earlier
  WHERE earlier.count < ${MOST_ALIKE} OR earlier.count < ${2 * MOST_ALIKE}
    AND (SELECT (e.outcome, e.failure_code) IS DISTINCT FROM ($6::text, $7::text)
         FROM operator_exchanges e WHERE e.payment_id = $2 ORDER BY e.id DESC LIMIT 1)`;

export type NewExchange = Omit<OperatorExchange, 'paymentId'>;

/** Stores an exchange within the limits above, so that a payment that is queried for days does not fill the disk. */
export async function insertExchange(
  db: Queryable,
  { merchantId, id }: PaymentRef,
  { kind, startedAt, durationMs, outcome, failureCode }: NewExchange,
): Promise<void> {
  await db.run(INSERT, [merchantId, id, kind, startedAt, durationMs, outcome, failureCode]);
}

const LIST = statement('operator_exchange_list')`
  SELECT payment_id, kind, started_at, duration_ms, outcome, failure_code FROM operator_exchanges
  WHERE payment_id = ANY($1) ORDER BY operator_exchanges.id LIMIT $2`;

/** The exchanges of these payments, oldest first, at most `limit`. */
export async function listExchanges(
  db: Queryable,
  payments: readonly PaymentId[],
  limit: number,
): Promise<OperatorExchange[]> {
  return db.run<OperatorExchange>(LIST, [payments, limit]);
}

export const deleteExchanges = boundedDelete('operator_exchange_delete_old', {
  table: 'operator_exchanges',
  key: 'id',
  isOver: 'started_at < $1',
});

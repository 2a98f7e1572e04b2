// Rows of payee names: the operators' names for the payees of payouts.
import type { PayoutId } from '../../domain/ids.ts';
import type { PayeeName } from '../../domain/payments/payee-name.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { statement, type Queryable } from '../platform/database.ts';

const INSERT = statement('payee_name_insert')`
  INSERT INTO payee_names (payment_id, merchant_id, name, asked_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`;

/** Stores the operator's answer. The first answer stays. */
export async function insertPayeeName(
  db: Queryable,
  { id, merchantId }: PaymentRef<'payout'>,
  { name, askedAt }: PayeeName,
): Promise<void> {
  await db.run(INSERT, [id, merchantId, name, askedAt]);
}

const LIST = statement('payee_name_list')`
  SELECT payment_id, name, asked_at FROM payee_names WHERE payment_id = ANY($1)`;

/** The operators' answers about the payees, by payout. A payout is absent if its operator was not asked or has not answered. */
export async function listPayeeNames(
  db: Queryable,
  payouts: readonly PayoutId[],
): Promise<ReadonlyMap<PayoutId, PayeeName>> {
  if (payouts.length === 0) return new Map();
  const rows = await db.run<PayeeName & { readonly paymentId: PayoutId }>(LIST, [payouts]);
  return new Map(rows.map(({ paymentId, name, askedAt }) => [paymentId, { name, askedAt }]));
}

export const deletePayeeNames = boundedDelete('payee_name_delete_old', {
  table: 'payee_names',
  key: 'payment_id',
  isOver: 'asked_at < $1',
});

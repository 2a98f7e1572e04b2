// How far the sending of a payout or a refund got: noted apart from its state, which only outcomes change.
import type { MerchantId, PayoutId, ReversalId } from '../../domain/ids.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

/** Money that leaves: a payout, or the refund of a reversal. */
export type SentMoney = { readonly merchantId: MerchantId } & (
  { readonly table: 'payouts'; readonly id: PayoutId } | { readonly table: 'reversals'; readonly id: ReversalId }
);
type SentTable = SentMoney['table'];

function note(table: SentTable, column: 'send_begun_at' | 'accepted_at'): Statement {
  return statement(
    `${table}_note_${column}`,
    `UPDATE ${table} SET ${column} = $3 WHERE merchant_id = $1 AND id = $2 AND ${column} IS NULL RETURNING 1`,
  );
}

const BEGUN = { payouts: note('payouts', 'send_begun_at'), reversals: note('reversals', 'send_begun_at') } as const;
const ACCEPTED = { payouts: note('payouts', 'accepted_at'), reversals: note('reversals', 'accepted_at') } as const;

/** True the first time. */
export async function markSendBegun(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<boolean> {
  return (await db.run(BEGUN[table], [merchantId, id, at])).length === 1;
}

/** The first time stays. */
export async function markAccepted(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<void> {
  await db.run(ACCEPTED[table], [merchantId, id, at]);
}

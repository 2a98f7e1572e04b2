// How far the sending of a payout or a refund got: noted apart from its state, which only outcomes change.
import type { MerchantId, PayoutId, ReversalId } from '../../domain/ids.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

/** Money that leaves: a payout, or the refund of a reversal. */
export type SentMoney = { readonly merchantId: MerchantId } & (
  { readonly table: 'payouts'; readonly id: PayoutId } | { readonly table: 'reversals'; readonly id: ReversalId }
);
type SentTable = SentMoney['table'];

function note(table: SentTable, column: 'send_begun_at' | 'taken_at'): Statement {
  return statement(
    `${table}_note_${column}`,
    `UPDATE ${table} SET ${column} = $3 WHERE merchant_id = $1 AND id = $2 AND ${column} IS NULL RETURNING 1`,
  );
}

const BEGUN = { payouts: note('payouts', 'send_begun_at'), reversals: note('reversals', 'send_begun_at') } as const;
const TAKEN = { payouts: note('payouts', 'taken_at'), reversals: note('reversals', 'taken_at') } as const;

/** True the first time. */
export async function noteSendBegun(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<boolean> {
  return (await db.run(BEGUN[table], [merchantId, id, at])).length === 1;
}

/** The first time stays. */
export async function noteTaken(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<void> {
  await db.run(TAKEN[table], [merchantId, id, at]);
}

// How far the sending of a payout or a refund got: noted apart from its state, which only outcomes change.
import type { MerchantId } from '../domain/ids.ts';
import { statement, type Queryable, type Statement } from './database.ts';

export type SentTable = 'payouts' | 'reversals';

function note(table: SentTable, column: 'send_begun_at' | 'taken_at'): Statement {
  return statement(
    `${table}_note_${column}`,
    `UPDATE ${table} SET ${column} = $3 WHERE merchant_id = $1 AND id = $2 AND ${column} IS NULL RETURNING 1`,
  );
}

const BEGUN = { payouts: note('payouts', 'send_begun_at'), reversals: note('reversals', 'send_begun_at') } as const;
const TAKEN = { payouts: note('payouts', 'taken_at'), reversals: note('reversals', 'taken_at') } as const;

export type SentMoney = { readonly table: SentTable; readonly merchantId: MerchantId; readonly id: string };

/** True the first time. */
export async function noteSendBegun(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<boolean> {
  return (await db.run(BEGUN[table], [merchantId, id, at])).length === 1;
}

/** The first time stays. */
export async function noteTaken(db: Queryable, { table, merchantId, id }: SentMoney, at: Date): Promise<void> {
  await db.run(TAKEN[table], [merchantId, id, at]);
}

// Notes on a payment's row beside its state: how far its send got, and when it is rechecked. Each is one statement that
// decides nothing.
import type { PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

/** A payment that sends money out: a payout, or the refund of a reversal. */
export type SentPaymentRef = PaymentRef<'payout' | 'reversal'>;
type SentKind = SentPaymentRef['kind'];

const TABLES = { collection: 'collections', payout: 'payouts', reversal: 'reversals' } as const;

function markOnce(kind: SentKind, column: 'send_begun_at' | 'accepted_at'): Statement {
  return statement(
    `${kind}_mark_${column}`,
    `UPDATE ${TABLES[kind]} SET ${column} = $3 WHERE merchant_id = $1 AND id = $2 AND ${column} IS NULL RETURNING 1`,
  );
}

const MARK_SEND_BEGUN = {
  payout: markOnce('payout', 'send_begun_at'),
  reversal: markOnce('reversal', 'send_begun_at'),
};
const MARK_ACCEPTED = { payout: markOnce('payout', 'accepted_at'), reversal: markOnce('reversal', 'accepted_at') };

/** True when no send was recorded before: only then does a refusal of the first try decide the outcome. */
export async function markSendBegun(
  db: Queryable,
  { kind, merchantId, id }: SentPaymentRef,
  at: Date,
): Promise<boolean> {
  return (await db.run(MARK_SEND_BEGUN[kind], [merchantId, id, at])).length === 1;
}

/** Records that the operator has the payment: a later `not_found` does not make it fail. The first time stays. */
export async function markAccepted(db: Queryable, { kind, merchantId, id }: SentPaymentRef, at: Date): Promise<void> {
  await db.run(MARK_ACCEPTED[kind], [merchantId, id, at]);
}

// Only in these states can the operator contradict the outcome or return the money.
function scheduleStatement(kind: PaymentKind): Statement {
  return statement(
    `${kind}_schedule_recheck`,
    `UPDATE ${TABLES[kind]} SET check_due_at = least(coalesce(check_due_at, $2), $2)
     WHERE id = $1 AND state IN ('succeeded', 'failed')`,
  );
}

const SCHEDULE_RECHECK = {
  collection: scheduleStatement('collection'),
  payout: scheduleStatement('payout'),
  reversal: scheduleStatement('reversal'),
} as const satisfies Record<PaymentKind, Statement>;

/** The sweep requeues the payment at `dueAt`, or earlier if that was due before. Changes nothing in any other state. */
export async function scheduleRecheck(
  db: Queryable,
  { kind, id }: Pick<PaymentRef, 'kind' | 'id'>,
  dueAt: Date,
): Promise<void> {
  await db.run(SCHEDULE_RECHECK[kind], [id, dueAt]);
}

// Notes on a payment's row beside its state: how far its send got, and when it is rechecked. Each is one statement that
// decides nothing.
import type { PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

/** A payment that sends money out: a payout, or the refund of a reversal. */
export type SentPaymentRef = PaymentRef<'payout' | 'reversal'>;

const TABLES = { collection: 'collections', payout: 'payouts', reversal: 'reversals' } as const;

// The state and the deadline within which a send may begin. The other side of this is `never_sent`, which is recorded only
// while no send has begun: of the two statements, the row lets only one pass.
function sendBegunStatement(kind: PaymentKind, firstState: string, deadline: string): Statement {
  return statement(
    `${kind}_mark_send_begun`,
    `UPDATE ${TABLES[kind]} SET send_begun_at = $3
     WHERE merchant_id = $1 AND id = $2 AND send_begun_at IS NULL AND state = '${firstState}' AND ${deadline} > $3
     RETURNING 1`,
  );
}

const MARK_SEND_BEGUN = {
  collection: sendBegunStatement('collection', 'initiated', 'prompt_deadline_at'),
  payout: sendBegunStatement('payout', 'released', 'send_deadline_at'),
  reversal: sendBegunStatement('reversal', 'requested', 'send_deadline_at'),
} as const satisfies Record<PaymentKind, Statement>;

/**
 * True when this call recorded the first send: only then does a refusal of it decide the outcome. False when a send began
 * before, or when none may begin any more.
 */
export async function markSendBegun(db: Queryable, { kind, merchantId, id }: PaymentRef, at: Date): Promise<boolean> {
  return (await db.run(MARK_SEND_BEGUN[kind], [merchantId, id, at])).length === 1;
}

function acceptedStatement(kind: SentPaymentRef['kind']): Statement {
  return statement(
    `${kind}_mark_accepted`,
    `UPDATE ${TABLES[kind]} SET accepted_at = $3 WHERE merchant_id = $1 AND id = $2 AND accepted_at IS NULL`,
  );
}

const MARK_ACCEPTED = { payout: acceptedStatement('payout'), reversal: acceptedStatement('reversal') };

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

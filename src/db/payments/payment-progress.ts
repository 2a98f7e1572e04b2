// Records on a payment's row, besides its state, the progress of its send and the schedule of its status queries. Each function
// runs one statement that decides nothing.
import type { Collection } from '../../domain/payments/collection.ts';
import { notFound } from '../../domain/errors.ts';
import type { Payment, PaymentRef } from '../../domain/payments/payment.ts';
import { QUERY_PRIORITY, type QueryDue } from '../../domain/work.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { WORK_COLUMNS } from '../work/work-rows.ts';
import { beginCollectionQuery, COLLECTION_COLUMNS } from './collection.ts';
import { withOwnIssuedId, withOwnReceipt } from './change-statement.ts';
import type { BegunQuery } from './payment-reads.ts';
import { beginPayoutQuery } from './payout.ts';
import { beginReversalQuery } from './reversal.ts';

/** A payment that sends money out: a payout, or the refund of a reversal. */
export type SentPaymentRef = PaymentRef<'payout' | 'reversal'>;

/** Condition: the state and the send deadline allow a send to begin or to be repeated at `$3`. */
const MAY_BE_SENT = "state IN ('initiated', 'released') AND send_deadline_at > $3";
/** Condition: the send is that of the generation which the caller read. */
const isGeneration = (place: string): string => `send_generation = ${place}`;

// The counterpart is `never_sent`, which is recorded only while no send has begun: the row lets only one of the two statements pass.
const BEGIN_SEND = `
  UPDATE payments SET send_begun_at = $3 WHERE merchant_id = $1 AND id = $2 AND send_begun_at IS NULL AND ${MAY_BE_SENT}`;
// From now on the operator may have the payment, so status queries are scheduled.
const MARK_SEND_BEGUN = statement('payment_mark_send_begun')`
  WITH begun AS (${BEGIN_SEND} AND ${isGeneration('$6')} RETURNING id, kind, merchant_id, operator),
  query_work AS (
    INSERT INTO work (${WORK_COLUMNS})
    SELECT id, 'status_query', kind, merchant_id, operator, $4, NULL, $5 FROM begun WHERE $5::timestamptz IS NOT NULL
    ON CONFLICT (id, task) DO UPDATE SET priority = excluded.priority, due_at = excluded.due_at)
  SELECT FROM begun`;
const BEGIN_COLLECTION_SEND = statement('collection_mark_send_begun')`${BEGIN_SEND} RETURNING ${COLLECTION_COLUMNS}`;

/**
 * Records that the first send of the generation begins. True if this call recorded it: only then does a refusal of the send decide. False
 * if a send began before, if none may begin any more, or if another generation follows. `firstQuery`: when the first status query is due.
 */
export async function markSendBegun(
  db: Queryable,
  { merchantId, id }: PaymentRef,
  at: Date,
  { firstQuery = null, generation = 1 }: { readonly firstQuery?: QueryDue | null; readonly generation?: number } = {},
): Promise<boolean> {
  const values = [merchantId, id, at, firstQuery?.priority, firstQuery?.dueAt, generation];
  return (await db.run(MARK_SEND_BEGUN, values)).length === 1;
}

/** Like `markSendBegun`, for a collection: returns the updated collection instead of true, and null instead of false. */
export function beginCollectionSend(
  db: Queryable,
  { merchantId, id }: PaymentRef<'collection'>,
  at: Date,
): Promise<Collection | null> {
  return findOne<Collection>(db, BEGIN_COLLECTION_SEND, [merchantId, id, at]);
}

// The time of the first repeat stays. Every further try needs a state and a send deadline that allow it.
const MARK_SEND_REPEATED = statement('payment_mark_send_repeated')`
  UPDATE payments SET send_repeated_at = coalesce(send_repeated_at, $3)
  WHERE merchant_id = $1 AND id = $2 AND send_begun_at IS NOT NULL AND ${MAY_BE_SENT}
    AND ${isGeneration('$4')}
  RETURNING 1`;

/**
 * Records that a further try to send begins: from now on no refusal of a send, earlier or later, decides the outcome. False if no
 * try may begin any more, or if another generation follows.
 */
export async function markSendRepeated(
  db: Queryable,
  { merchantId, id }: PaymentRef,
  at: Date,
  generation = 1,
): Promise<boolean> {
  return (await db.run(MARK_SEND_REPEATED, [merchantId, id, at, generation])).length === 1;
}

const IS_SEND_REPEATED = statement('payment_is_send_repeated')`
  SELECT 1 FROM payments WHERE merchant_id = $1 AND id = $2 AND send_repeated_at IS NOT NULL`;

/** Whether more than one try to send the payment began. */
export async function isSendRepeated(db: Queryable, { merchantId, id }: PaymentRef): Promise<boolean> {
  return (await db.run(IS_SEND_REPEATED, [merchantId, id])).length === 1;
}

const TAKE_BACK_SEND = statement('payment_take_back_send')`
  UPDATE payments SET send_begun_at = NULL, sends_taken_back = sends_taken_back + 1, take_back_attestation = $5
  WHERE merchant_id = $1 AND id = $2 AND sends_once AND send_begun_at = $3 AND sends_taken_back = $4
    AND state IN ('initiated', 'released') AND accepted_at IS NULL AND operator_issued_id IS NULL
  RETURNING 1`;

/** The last send, with the attestation that the operator did nothing with it. */
export type UnprocessedSend = Pick<Payment, 'sendsTakenBack'> & {
  readonly begunAt: Date;
  readonly attestation: string;
};

/**
 * Takes back a send of a payment that is sent once, so that another send may begin. False, and nothing is written, if a later send began
 * or if the row records more about the payment: then its outcome is unknown, and the payment is not sent again.
 */
export async function takeBackSend(
  db: Queryable,
  { merchantId, id }: PaymentRef,
  { begunAt, sendsTakenBack, attestation }: UnprocessedSend,
): Promise<boolean> {
  return (await db.run(TAKE_BACK_SEND, [merchantId, id, begunAt, sendsTakenBack, attestation])).length === 1;
}

const MARK_ACCEPTED = statement('payment_mark_accepted')`
  UPDATE payments SET accepted_at = coalesce(accepted_at, $3), operator_issued_id = coalesce(operator_issued_id, $4)
  WHERE merchant_id = $1 AND id = $2 AND (accepted_at IS NULL OR operator_issued_id IS NULL AND $4::text IS NOT NULL)
    AND ${isGeneration('coalesce($5, send_generation)')}`;

/**
 * Records that the operator has the payment: a later `not_found` does not make the payment fail. The first time stays, and so does the
 * first issued id, if there is one. Nothing changes if `generation` is not the current one. Throws `IssuedIdReused`.
 */
export async function markAccepted(
  db: Queryable,
  { merchantId, id }: SentPaymentRef,
  at: Date,
  {
    issuedId = null,
    generation = null,
  }: { readonly issuedId?: string | null; readonly generation?: number | null } = {},
): Promise<void> {
  await withOwnIssuedId(issuedId, () => db.run(MARK_ACCEPTED, [merchantId, id, at, issuedId, generation]));
}

const RECORD_ISSUED_ID = statement('payment_record_issued_id')`
  UPDATE payments SET operator_issued_id = $3
  WHERE merchant_id = $1 AND id = $2 AND operator_issued_id IS NULL AND send_begun_at IS NOT NULL`;

/** Records the issued id of a payment that was sent. The first id stays. Throws `IssuedIdReused`. */
export async function recordIssuedId(db: Queryable, { merchantId, id }: PaymentRef, issuedId: string): Promise<void> {
  await withOwnIssuedId(issuedId, () => db.run(RECORD_ISSUED_ID, [merchantId, id, issuedId]));
}

const RECORD_RECEIPT = statement('payment_record_receipt')`
  UPDATE payments SET operator_receipt = $3
  WHERE merchant_id = $1 AND id = $2 AND receipt_follows AND operator_receipt IS NULL AND state IN ('succeeded', 'reversed')
  RETURNING 1`;

/**
 * Records the receipt of a payment that is recorded as paid and whose receipt follows later. True if this call recorded the receipt; the
 * first receipt stays. Throws `ReceiptReused` if another payment has the receipt.
 */
export async function recordReceipt(db: Queryable, { merchantId, id }: PaymentRef, receipt: string): Promise<boolean> {
  return (await withOwnReceipt(receipt, () => db.run(RECORD_RECEIPT, [merchantId, id, receipt]))).length === 1;
}

const IS_PENDING_WHEN_SENT = `state IN ('released', 'reconciling')`;

// All processes share the database's clock: a process whose clock is ahead cannot record evidence from the future.
const MAX_AHEAD = `now() + interval '1 minute'`;

const COUNT_NOT_FOUND = statement('payment_count_not_found')`
  UPDATE payments
  SET not_found_count = not_found_count + 1, not_found_since = coalesce(not_found_since, $3), not_found_last_at = $3
  WHERE merchant_id = $1 AND id = $2 AND kind <> 'collection' AND ${IS_PENDING_WHEN_SENT} AND send_begun_at IS NOT NULL
    AND accepted_at IS NULL AND send_deadline_at <= $4 AND (not_found_last_at IS NULL OR not_found_last_at <= $5)
    AND $3 <= ${MAX_AHEAD}`;

/** A `not_found` status with the time of its query. */
export type CountedNotFound = { readonly queriedAt: Date; readonly graceMs: number; readonly gapMs: number };

/**
 * Counts a `not_found` status. The status does not count if a send may still be on its way, if the operator accepted the payment, if
 * the last counted status is less than `gapMs` older or is newer, or if the time of the query is more than a minute ahead of the
 * database's clock. Repeating the call changes nothing.
 */
export async function addNotFound(
  db: Queryable,
  { merchantId, id }: SentPaymentRef,
  { queriedAt, graceMs, gapMs }: CountedNotFound,
): Promise<void> {
  const before = (ms: number) => new Date(queriedAt.getTime() - ms);
  await db.run(COUNT_NOT_FOUND, [merchantId, id, queriedAt, before(graceMs), before(gapMs)]);
}

const RESET_NOT_FOUNDS = statement('payment_reset_not_founds')`
  UPDATE payments SET not_found_count = 0, not_found_since = NULL,
    not_found_last_at = greatest(not_found_last_at, least($3, ${MAX_AHEAD}))
  WHERE merchant_id = $1 AND id = $2 AND ${IS_PENDING_WHEN_SENT} AND not_found_count > 0 AND not_found_last_at < $3`;

/**
 * Resets the count at a status that is newer than the last counted one, and dated at most a minute ahead of the database's clock.
 * No older status counts any more.
 */
export async function resetNotFounds(
  db: Queryable,
  { merchantId, id }: SentPaymentRef,
  queriedAt: Date,
): Promise<void> {
  await db.run(RESET_NOT_FOUNDS, [merchantId, id, queriedAt]);
}

// Only in these states can the operator's status still matter: the operator has the pending payment, or it may contradict the outcome of
// a final payment, return its money, or turn out to have it. A payout or refund that expired was never sent.
const SCHEDULE_QUERY = statement('payment_schedule_query')`
  INSERT INTO work (${WORK_COLUMNS})
  SELECT id, 'status_query', kind, merchant_id, operator, ${QUERY_PRIORITY.final}, NULL, $2 FROM payments
  WHERE id = $1 AND (state IN ('prompted', 'reconciling', 'succeeded', 'failed') OR kind = 'collection' AND state = 'expired')
  FOR NO KEY UPDATE
  ON CONFLICT (id, task) DO UPDATE SET due_at = least(work.due_at, excluded.due_at)`;

/** Schedules a status query at `dueAt`, and keeps an earlier due time. Changes nothing if the payment is in any other state. */
export async function scheduleQuery(db: Queryable, { id }: Pick<PaymentRef, 'id'>, dueAt: Date): Promise<void> {
  await db.run(SCHEDULE_QUERY, [id, dueAt]);
}

/**
 * Begins an unscheduled status query, unless the query must wait, and returns the payment; both in one statement. Throws the not-found
 * error of the payment's kind.
 */
export async function beginQuery(db: Queryable, ref: PaymentRef, gapMs: number): Promise<BegunQuery<Payment>> {
  const begun = await beginQueryOfKind(db, ref, gapMs);
  if (begun === null) throw notFound(ref.kind);
  return begun;
}

function beginQueryOfKind(
  db: Queryable,
  { kind, merchantId, id }: PaymentRef,
  gapMs: number,
): Promise<BegunQuery<Payment> | null> {
  switch (kind) {
    case 'collection':
      return beginCollectionQuery(db, merchantId, id, gapMs);
    case 'payout':
      return beginPayoutQuery(db, merchantId, id, gapMs);
    case 'reversal':
      return beginReversalQuery(db, merchantId, id, gapMs);
  }
}

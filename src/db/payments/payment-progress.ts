// Notes on a payment's row beside its state: how far its send got, and when it is rechecked. Each is one statement that
// decides nothing.
import type { Collection } from '../../domain/payments/collection.ts';
import type { PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { findOne, statement, type Queryable, type Statement } from '../platform/database.ts';
import { COLLECTION_COLUMNS } from './collection.ts';

/** A payment that sends money out: a payout, or the refund of a reversal. */
export type SentPaymentRef = PaymentRef<'payout' | 'reversal'>;

const TABLES = { collection: 'collections', payout: 'payouts', reversal: 'reversals' } as const;

/** The state and the deadline within which a send may begin or be repeated at `$3`. */
const MAY_BE_SENT = {
  collection: "state = 'initiated' AND prompt_deadline_at > $3",
  payout: "state = 'released' AND send_deadline_at > $3",
  reversal: "state = 'released' AND send_deadline_at > $3",
} as const satisfies Record<PaymentKind, string>;

// The other side of this is `never_sent`, which is recorded only while no send has begun: of the two statements, the row lets only
// one pass.
function sendBegunStatement(kind: PaymentKind): Statement {
  return statement(
    `${kind}_mark_send_begun`,
    `UPDATE ${TABLES[kind]} SET send_begun_at = $3
     WHERE merchant_id = $1 AND id = $2 AND send_begun_at IS NULL AND ${MAY_BE_SENT[kind]}
     RETURNING ${kind === 'collection' ? COLLECTION_COLUMNS : 1}`,
  );
}

const MARK_SEND_BEGUN = {
  collection: sendBegunStatement('collection'),
  payout: sendBegunStatement('payout'),
  reversal: sendBegunStatement('reversal'),
} as const satisfies Record<PaymentKind, Statement>;

/**
 * True when this call recorded the first send: only then does a refusal of it decide the outcome. False when a send began
 * before, or when none may begin any more.
 */
export async function markSendBegun(db: Queryable, { kind, merchantId, id }: PaymentRef, at: Date): Promise<boolean> {
  return (await db.run(MARK_SEND_BEGUN[kind], [merchantId, id, at])).length === 1;
}

/** The same of a collection: it is returned as it is then, in place of true, and null in place of false. */
export function beginCollectionSend(
  db: Queryable,
  { merchantId, id }: PaymentRef<'collection'>,
  at: Date,
): Promise<Collection | null> {
  return findOne<Collection>(db, MARK_SEND_BEGUN.collection, [merchantId, id, at]);
}

// The first time stays, and every further try must still find the state and the deadline within which it may begin.
function sendRepeatedStatement(kind: PaymentKind): Statement {
  return statement(
    `${kind}_mark_send_repeated`,
    `UPDATE ${TABLES[kind]} SET send_repeated_at = coalesce(send_repeated_at, $3)
     WHERE merchant_id = $1 AND id = $2 AND send_begun_at IS NOT NULL AND ${MAY_BE_SENT[kind]}
     RETURNING 1`,
  );
}

const MARK_SEND_REPEATED = {
  collection: sendRepeatedStatement('collection'),
  payout: sendRepeatedStatement('payout'),
  reversal: sendRepeatedStatement('reversal'),
} as const satisfies Record<PaymentKind, Statement>;

/**
 * Records that a further try to send begins: from now on no refusal of a send decides the outcome, whenever it was given. False
 * when none may begin any more.
 */
export async function markSendRepeated(
  db: Queryable,
  { kind, merchantId, id }: PaymentRef,
  at: Date,
): Promise<boolean> {
  return (await db.run(MARK_SEND_REPEATED[kind], [merchantId, id, at])).length === 1;
}

function isRepeatedStatement(kind: PaymentKind): Statement {
  return statement(
    `${kind}_is_send_repeated`,
    `SELECT 1 FROM ${TABLES[kind]} WHERE merchant_id = $1 AND id = $2 AND send_repeated_at IS NOT NULL`,
  );
}

const IS_SEND_REPEATED = {
  collection: isRepeatedStatement('collection'),
  payout: isRepeatedStatement('payout'),
  reversal: isRepeatedStatement('reversal'),
} as const satisfies Record<PaymentKind, Statement>;

/** Whether more than one try to send it ever began. */
export async function isSendRepeated(db: Queryable, { kind, merchantId, id }: PaymentRef): Promise<boolean> {
  return (await db.run(IS_SEND_REPEATED[kind], [merchantId, id])).length === 1;
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

const PENDING_WHEN_SENT = {
  payout: `state IN ('released', 'reconciling')`,
  reversal: `state IN ('released', 'reconciling')`,
} as const;

// The database's clock is common to all processes: a process whose clock is ahead brings no evidence from the future.
const MAX_AHEAD = `now() + interval '1 minute'`;

function addNotFoundStatement(kind: SentPaymentRef['kind']): Statement {
  return statement(
    `${kind}_count_not_found`,
    `UPDATE ${TABLES[kind]}
     SET not_found_count = not_found_count + 1, not_found_since = coalesce(not_found_since, $3), not_found_last_at = $3
     WHERE merchant_id = $1 AND id = $2 AND ${PENDING_WHEN_SENT[kind]} AND send_begun_at IS NOT NULL
       AND accepted_at IS NULL AND send_deadline_at <= $4 AND (not_found_last_at IS NULL OR not_found_last_at <= $5)
       AND $3 <= ${MAX_AHEAD}`,
  );
}

const COUNT_NOT_FOUND = { payout: addNotFoundStatement('payout'), reversal: addNotFoundStatement('reversal') };

/** A status of `not_found`, as of the time of its query. */
export type CountedNotFound = { readonly queriedAt: Date; readonly graceMs: number; readonly gapMs: number };

/**
 * Counts that the operator does not know the payment, unless that says nothing: a send may still be on its way, the
 * operator accepted it, the last such status, or an older one, is less than `gapMs` away, or the query is dated more than
 * a minute ahead of the clock of the database. Repeating it changes nothing.
 */
export async function addNotFound(
  db: Queryable,
  { kind, merchantId, id }: SentPaymentRef,
  { queriedAt, graceMs, gapMs }: CountedNotFound,
): Promise<void> {
  const before = (ms: number) => new Date(queriedAt.getTime() - ms);
  await db.run(COUNT_NOT_FOUND[kind], [merchantId, id, queriedAt, before(graceMs), before(gapMs)]);
}

function resetNotFoundsStatement(kind: SentPaymentRef['kind']): Statement {
  return statement(
    `${kind}_reset_not_founds`,
    `UPDATE ${TABLES[kind]} SET not_found_count = 0, not_found_since = NULL,
       not_found_last_at = greatest(not_found_last_at, least($3, ${MAX_AHEAD}))
     WHERE merchant_id = $1 AND id = $2 AND ${PENDING_WHEN_SENT[kind]} AND not_found_count > 0 AND not_found_last_at < $3`,
  );
}

const RESET_NOT_FOUNDS = { payout: resetNotFoundsStatement('payout'), reversal: resetNotFoundsStatement('reversal') };

/**
 * Begins the count again, as of a status that came after the last that was counted, and no later than a minute from now by
 * the clock of the database. No older status counts any more.
 */
export async function resetNotFounds(
  db: Queryable,
  { kind, merchantId, id }: SentPaymentRef,
  queriedAt: Date,
): Promise<void> {
  await db.run(RESET_NOT_FOUNDS[kind], [merchantId, id, queriedAt]);
}

// Only in these states can the operator contradict the outcome, return the money, or turn out to have it.
const RECHECKED = {
  collection: `'succeeded', 'failed', 'expired'`,
  payout: `'succeeded', 'failed'`,
  reversal: `'succeeded', 'failed'`,
} as const satisfies Record<PaymentKind, string>;

function scheduleStatement(kind: PaymentKind): Statement {
  return statement(
    `${kind}_schedule_recheck`,
    `UPDATE ${TABLES[kind]} SET check_due_at = least(coalesce(check_due_at, $2), $2)
     WHERE id = $1 AND state IN (${RECHECKED[kind]})`,
  );
}

const SCHEDULE_RECHECK = {
  collection: scheduleStatement('collection'),
  payout: scheduleStatement('payout'),
  reversal: scheduleStatement('reversal'),
} as const satisfies Record<PaymentKind, Statement>;

/** The payment is rechecked at `dueAt`, or earlier if that was due before. Changes nothing in any other state. */
export async function scheduleRecheck(
  db: Queryable,
  { kind, id }: Pick<PaymentRef, 'kind' | 'id'>,
  dueAt: Date,
): Promise<void> {
  await db.run(SCHEDULE_RECHECK[kind], [id, dueAt]);
}

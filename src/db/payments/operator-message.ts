// Rows of messages, each received at an address made for one payment or query, and of the queries that messages answer.
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { MessagePurpose, OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { AskedQuery } from '../../domain/payments/message-evidence.ts';
import type { PaymentId, PaymentRef } from '../../domain/payments/payment.ts';
import { boundedDelete } from '../platform/bounded-delete.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';

type MessageContents = {
  readonly operator: OperatorId;
  readonly purpose: MessagePurpose;
  /** The query whose address received the message; null: an address of the payment received it. */
  readonly queryId: string | null;
  readonly body: string;
  readonly receivedAt: Date;
};

export type NewMessage = MessageContents & {
  readonly contentType: string;
  readonly sourceAddress: string;
};

/** The subject of a message: a payment, or a reference or query that is not on record. */
export type MessageSubject = { readonly paymentId: PaymentId } | { readonly unmatched: string };

const MESSAGES = 'operator_callbacks';
const QUERIES = 'operator_queries';

function messageValues(subject: MessageSubject, { operator, purpose, queryId, body, receivedAt }: MessageContents) {
  const about = 'paymentId' in subject ? subject.paymentId : subject.unmatched;
  return [operator, about, purpose, queryId, body, receivedAt];
}

// The limit is per address: a flood of messages to one address does not use up the limit of another.
const INSERT = statement('operator_message_insert')`
  WITH earlier AS (
    SELECT count(*)::int AS count FROM (
      SELECT FROM operator_callbacks
      WHERE (payment_id = $1 OR operator_reference = $2) AND purpose = $4 AND query_id IS NOT DISTINCT FROM $5::uuid LIMIT $11) AS kept),
  stored AS (
    INSERT INTO operator_callbacks (
      payment_id, operator_reference, operator, purpose, query_id, body, content_type, source_address, received_at, attestation)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM earlier WHERE count < $11 RETURNING id)
  SELECT EXISTS (SELECT FROM stored) AS is_kept`;

/** Stores a message, attested, unless its address already has `most`. True if the message is stored. */
export async function insertMessage(
  db: Queryable,
  subject: MessageSubject,
  message: NewMessage,
  most: number,
): Promise<boolean> {
  const { operator, purpose, queryId, body, contentType, sourceAddress, receivedAt } = message;
  const [paymentId, unmatched] = 'paymentId' in subject ? [subject.paymentId, null] : [null, subject.unmatched];
  const attestation = db.attestor.attest(MESSAGES, messageValues(subject, message), null);
  const kept = [operator, purpose, queryId, body, contentType, sourceAddress, receivedAt, attestation, most];
  return (await findOne<{ isKept: boolean }>(db, INSERT, [paymentId, unmatched, ...kept]))?.isKept === true;
}

const LIST = statement('operator_message_list')`
  SELECT id, operator, purpose, query_id, body, received_at, attestation, read_at IS NULL AS is_unread
  FROM operator_callbacks WHERE payment_id = $1 AND purpose IS NOT NULL ORDER BY operator_callbacks.id`;

export type StoredMessage = MessageContents & {
  readonly id: bigint;
  readonly isUnread: boolean;
  /** Whether a process of ours received the message at an address that it verified. */
  readonly isAttested: boolean;
};

/** All messages about the payment, in the order in which they were stored. */
export async function listMessages(db: Queryable, { id }: PaymentRef): Promise<StoredMessage[]> {
  type Row = Omit<StoredMessage, 'isAttested'> & { readonly attestation: string };
  const rows = await db.run<Row>(LIST, [id]);
  return rows.map(({ attestation, ...message }) => {
    const values = messageValues({ paymentId: id }, message);
    return { ...message, isAttested: db.attestor.isAttested(MESSAGES, values, attestation) };
  });
}

const MARK_READ = statement('operator_message_mark_read')`
  UPDATE operator_callbacks SET read_at = $2 WHERE id = ANY($1) AND read_at IS NULL`;

/** Marks messages as read, after their results are recorded. */
export async function markMessagesRead(db: Queryable, ids: readonly bigint[], at: Date): Promise<void> {
  if (ids.length > 0) await db.run(MARK_READ, [ids, at]);
}

const INSERT_QUERY = statement('operator_query_insert')`
  INSERT INTO operator_queries (id, merchant_id, payment_id, asked_at, seen_callback_id, attestation)
  VALUES ($1, $2, $3, $4, $5, $6)`;

/** Records, attested, the start of a query whose answer is a message. */
export async function insertOperatorQuery(db: Queryable, ref: PaymentRef, query: AskedQuery): Promise<void> {
  const attestation = db.attestor.attest(QUERIES, queryValues(ref.id, query), null);
  const { id, askedAt, seenMessageId } = query;
  await db.run(INSERT_QUERY, [id, ref.merchantId, ref.id, askedAt, seenMessageId, attestation]);
}

function queryValues(paymentId: PaymentId, { id, askedAt, seenMessageId }: AskedQuery) {
  return [id, paymentId, askedAt, seenMessageId];
}

const LIST_QUERIES = statement('operator_query_list')`
  SELECT id, asked_at, seen_callback_id AS seen_message_id, attestation FROM operator_queries
  WHERE payment_id = $1 ORDER BY asked_at`;

/** The queries about the payment that a process of ours recorded, oldest first. */
export async function listOperatorQueries(db: Queryable, { id }: PaymentRef): Promise<AskedQuery[]> {
  const rows = await db.run<AskedQuery & { readonly attestation: string }>(LIST_QUERIES, [id]);
  return rows
    .filter(({ attestation, ...query }) => db.attestor.isAttested(QUERIES, queryValues(id, query), attestation))
    .map(({ id: queryId, askedAt, seenMessageId }) => ({ id: queryId, askedAt, seenMessageId }));
}

const NOTE_ANSWERED = statement('operator_query_note_answered')`
  UPDATE operator_queries SET answered_at = $2 WHERE id = $1 AND answered_at IS NULL`;

/** Records when the address of the query received its first message. */
export async function noteQueryAnswered(db: Queryable, id: string, at: Date): Promise<void> {
  await db.run(NOTE_ANSWERED, [id, at]);
}

const FIND_QUERIED = statement('operator_query_find_payment')`
  SELECT q.payment_id, q.merchant_id FROM operator_queries q JOIN payments p ON p.id = q.payment_id
  WHERE q.id = $1 AND p.operator = $2`;

/** The payment of the query; null: the operator has no such query. */
export async function findQueriedPayment(
  db: Queryable,
  operator: OperatorId,
  queryId: string,
): Promise<PaymentRef | null> {
  type Row = { readonly paymentId: PaymentId; readonly merchantId: MerchantId };
  const row = await findOne<Row>(db, FIND_QUERIED, [queryId, operator]);
  if (row === null) return null;
  const { paymentId: id, merchantId } = row;
  const kind = isId('col', id) ? 'collection' : isId('pay', id) ? 'payout' : 'reversal';
  return { kind, id, merchantId } as PaymentRef;
}

export const deleteOperatorQueries = boundedDelete('operator_query_delete_old', {
  table: 'operator_queries',
  key: 'id',
  isOver: 'asked_at < $1',
});

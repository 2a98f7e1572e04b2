// Reads what operators sent to the addresses of a payment and of its queries, and records what follows from it.
import { randomUUID } from 'node:crypto';
import {
  insertOperatorQuery,
  listMessages,
  listOperatorQueries,
  markMessagesRead,
  type StoredMessage,
} from '../src/db/payments/operator-message.ts';
import { recordIssuedId, recordReceipt } from '../src/db/payments/payment-progress.ts';
import { IssuedIdReused, ReceiptReused } from '../src/domain/payments/discrepancy.ts';
import { messageEvidence, type AskedQuery, type SolicitedMessage } from '../src/domain/payments/message-evidence.ts';
import { capabilitiesOf, isOperator, OPERATORS, type OperatorId } from '../src/domain/payments/operator-catalogue.ts';
import type { QueriedStatus } from '../src/domain/payments/operator-status.ts';
import type { Payment, PaymentRef } from '../src/domain/payments/payment.ts';
import { generationOf, sentReferenceOf } from '../src/domain/payments/send-generation.ts';
import { recordReusedReceipt } from '../src/operations/payments/record-discrepancy.ts';
import { operatorStatusOf } from '../src/operators/operator-status.ts';
import type { Operator, OperatorMessage } from '../src/operators/port.ts';
import type { ExchangeDeps } from './exchanges.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

/** The most queries about one send of a payment that messages cause. Further queries follow the schedule alone. */
const MOST_ASKED_AT_ONCE = 10;

type MessagesDeps = ExchangeDeps & { readonly operators: Readonly<Record<OperatorId, Operator>> };

/** The result of reading the messages about a payment. */
export type MessageFindings = {
  /** The payment after the result was recorded, with the operator-issued id of the messages if no answer had one. */
  readonly payment: LoadedPayment;
  /** The recorded status; null if no status was recorded. */
  readonly queried: QueriedStatus | null;
  /** Whether a status query follows now: because one is due, or because of the messages. */
  readonly isAsked: boolean;
  /** The last message that is stored, 0 for none. */
  readonly lastMessageId: bigint;
};

export type Messages = ReturnType<typeof createMessages>;

/** A message with its parsed content. */
type ReadMessage = SolicitedMessage &
  Pick<StoredMessage, 'purpose' | 'isUnread'> & { readonly issuedId: string | null };

export function createMessages(deps: MessagesDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  const { db, log } = deps;
  return {
    /**
     * Null, without a statement, if the operator's callbacks are hints only. Each consequence is recorded in its own transaction, and the
     * messages are marked as read afterwards: reading them again changes nothing. Ignores a message without a valid attestation, a message
     * that names another payment, and a message from before the send.
     */
    async read(ref: PaymentRef, operator: OperatorId): Promise<MessageFindings | null> {
      // A person who runs this activity by hand may name anything.
      if (!isOperator(operator) || OPERATORS[operator].messages === null) return null;
      const [stored, queries] = [await listMessages(db, ref), await listOperatorQueries(db, ref)];
      const payment = await kinds.load(ref);
      const { readMessage } = deps.operators[payment.operator];
      if (!readMessage) return null;
      const messages = stored.flatMap((message) => readStored(message, payment.row, readMessage, log));
      const findings = isStatusByCallback(payment.row)
        ? await applyEvidence(ref, payment, messages, queries)
        : await applyHints(ref, payment, messages);
      const unread = stored.filter(({ isUnread }) => isUnread).map(({ id }) => id);
      await markMessagesRead(db, unread, new Date());
      return { ...findings, isAsked: findings.isAsked || unread.length === 0, lastMessageId: stored.at(-1)?.id ?? 0n };
    },

    /** One statement, before the call: stores the query whose answer comes to its own address. Null if the answer comes at once. */
    async beginQuery(ref: PaymentRef, { row }: LoadedPayment, lastMessageId: bigint): Promise<string | null> {
      if (!isStatusByCallback(row)) return null;
      const query = { id: randomUUID(), askedAt: new Date(), seenMessageId: lastMessageId };
      await insertOperatorQuery(db, ref, query);
      return query.id;
    },
  };

  async function applyEvidence(
    ref: PaymentRef,
    payment: LoadedPayment,
    messages: readonly ReadMessage[],
    queries: readonly AskedQuery[],
  ) {
    const { queried, isUnconfirmed } = messageEvidence(messages, queries, payment.row.state);
    // An answer without a status causes no query at once, and answers that never agree cause a limited number: the schedule goes on.
    const isNews = messages.some(({ isUnread, queryId }) => isUnread && queryId === null);
    const isDecided = queried !== null && queried.status.kind !== 'pending';
    const sentAtMs = payment.row.sendBegunAt?.getTime() ?? 0;
    const asked = queries.filter(({ askedAt }) => askedAt.getTime() >= sentAtMs).length;
    const isAsked = !isDecided && (isUnconfirmed || isNews) && asked < MOST_ASKED_AT_ONCE;
    if (queried === null) return { payment, queried, isAsked };
    await recorder.recordStatus(ref, payment, queried, null);
    return { payment: await kinds.load(ref), queried, isAsked };
  }

  /** Handles operators that answer a query at once: a message decides nothing, and always causes a query. */
  async function applyHints(ref: PaymentRef, payment: LoadedPayment, messages: readonly ReadMessage[]) {
    const { row } = payment;
    const paid = messages.find(({ issuedId, status }) => issuedId === row.operatorIssuedId && status.kind === 'paid');
    if (row.operatorIssuedId !== null && paid?.status.kind === 'paid')
      await recordReceiptOnce(ref, row, paid.status, deps);
    return { payment: withNamedId(payment, messages), queried: null, isAsked: true };
  }
}

function isStatusByCallback(row: Payment): boolean {
  return capabilitiesOf(row).status === 'by_callback';
}

async function recordReceiptOnce(
  ref: PaymentRef,
  row: Payment,
  { operatorReceipt }: { readonly operatorReceipt: string | null },
  { db, log }: MessagesDeps,
): Promise<void> {
  const isMissing = row.receiptFollows && 'operatorReceipt' in row && row.operatorReceipt === null;
  if (!isMissing || operatorReceipt === null) return;
  try {
    await recordReceipt(db, ref, operatorReceipt);
  } catch (error) {
    if (!(error instanceof ReceiptReused)) throw error;
    await recordReusedReceipt(db, { ref, operatorReceipt, at: new Date() });
    log.fatal(
      { id: ref.id, operatorReceipt },
      'one receipt belongs to two payments: a person must settle the discrepancy',
    );
  }
}

function readStored(
  stored: StoredMessage,
  row: Payment,
  read: NonNullable<Operator['readMessage']>,
  log: MessagesDeps['log'],
): ReadMessage[] {
  const { id, purpose, queryId, receivedAt, isUnread } = stored;
  const message = stored.isAttested ? messageIn(stored, row, read) : null;
  if (!stored.isAttested) log.fatal({ id: row.id }, 'this service did not receive a stored message of the operator');
  if (message === null || row.sendBegunAt === null || !isAbout(message, row)) return [];
  const { status: outcome, issuedId } = message;
  const isNamed = 'paid' in outcome;
  const isPaidUnnamed = outcome.kind === 'succeeded' && !isNamed && capabilitiesOf(row).statusSays.amount;
  const status = isPaidUnnamed ? ({ kind: 'unreadable' } as const) : operatorStatusOf(outcome, row);
  return [{ id, purpose, queryId, receivedAt, isUnread, status, issuedId }];
}

function messageIn(
  { body, purpose }: StoredMessage,
  { kind }: Payment,
  read: NonNullable<Operator['readMessage']>,
): OperatorMessage | null {
  try {
    return read(purpose, JSON.parse(body) as unknown, kind);
  } catch {
    // The body is not JSON. The stored message remains for a person to read.
    return null;
  }
}

/**
 * Each id in the message must be that of the payment, as it was sent last. The address of the message stands for an absent id while the
 * payment has one generation.
 */
function isAbout({ issuedId, operatorReference }: OperatorMessage, row: Payment): boolean {
  const isOurs =
    operatorReference === null ? generationOf(row) === 1 : operatorReference.toLowerCase() === sentReferenceOf(row);
  return isOurs && (issuedId === null || row.operatorIssuedId === null || issuedId === row.operatorIssuedId);
}

/** Adds the one id that messages name if the response with the id was lost, and if each of these messages reports a failure. */
function withNamedId(payment: LoadedPayment, messages: readonly ReadMessage[]): LoadedPayment {
  const { sent } = payment;
  if (sent.issuedId !== null) return payment;
  const named = messages.filter(({ issuedId }) => issuedId !== null);
  const namedId = named[0]?.issuedId ?? null;
  const isOne = named.every(({ issuedId, status }) => issuedId === namedId && status.kind === 'declined');
  return isOne ? { ...payment, sent: { ...sent, namedId } } : payment;
}

/**
 * Whether an answer counts although the operator-issued id is lost. "Paid" counts with a receipt: only the search by our reference returns
 * a receipt. "Failed" counts if messages to the payment's own address also report the failure. The id in these messages is recorded first,
 * which fails if another payment has the id.
 */
export async function isAnswerAbout(
  db: MessagesDeps['db'],
  ref: PaymentRef,
  { row, sent }: LoadedPayment,
  { status }: QueriedStatus,
): Promise<boolean> {
  if (sent.issuedId !== null || capabilitiesOf(row).statusKey === 'ours') return true;
  if (status.kind === 'paid') return status.operatorReceipt !== null;
  if (status.kind !== 'declined') return true;
  if (sent.namedId === null) return false;
  try {
    await recordIssuedId(db, ref, sent.namedId);
    return true;
  } catch (error) {
    if (error instanceof IssuedIdReused) return false;
    throw error;
  }
}

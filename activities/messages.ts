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
import { recordReusedReceipt } from '../src/operations/payments/record-discrepancy.ts';
import { operatorStatusOf } from '../src/operators/operator-status.ts';
import type { Operator, OperatorMessage } from '../src/operators/port.ts';
import type { ExchangeDeps } from './exchanges.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import type { LoadedPayment, PaymentKinds } from './payment-kinds.ts';

/** So many queries about a payment at most are made because of messages, and not because they are due. */
const MOST_ASKED_AT_ONCE = 10;

type MessagesDeps = ExchangeDeps & { readonly operators: Readonly<Record<OperatorId, Operator>> };

/** What the messages about a payment led to. */
export type Told = {
  /** The payment after it was recorded, with the id that messages named where no answer did. */
  readonly payment: LoadedPayment;
  /** What was recorded; null: nothing. */
  readonly queried: QueriedStatus | null;
  /** Whether the operator is to be asked now: at the time that is due, or because of what came. */
  readonly isAsked: boolean;
  /** The last message that is stored, 0 for none. */
  readonly lastMessageId: bigint;
};

export type Messages = ReturnType<typeof createMessages>;

/** A message with what it says. */
type ReadMessage = SolicitedMessage &
  Pick<StoredMessage, 'purpose' | 'isUnread'> & { readonly issuedId: string | null };

export function createMessages(deps: MessagesDeps, kinds: PaymentKinds, recorder: OutcomeRecorder) {
  const { db, log } = deps;
  return {
    /**
     * Null, without a statement, where the operator's callbacks are hints only. Each thing that follows is recorded in a transaction of
     * its own, and the messages are marked as read after that: reading them again changes nothing. A message that no process of ours
     * attested, that names another payment, or that came before anything was sent leads to nothing.
     */
    async read(ref: PaymentRef, operator: OperatorId): Promise<Told | null> {
      // Whoever runs our activities by hand may name anything.
      if (!isOperator(operator) || OPERATORS[operator].messages === null) return null;
      const [stored, queries] = [await listMessages(db, ref), await listOperatorQueries(db, ref)];
      const payment = await kinds.load(ref);
      const { readMessage } = deps.operators[payment.operator];
      if (!readMessage) return null;
      const messages = stored.flatMap((message) => readStored(message, payment.row, readMessage, log));
      const told = isToldByCallback(payment.row)
        ? await applyEvidence(ref, payment, messages, queries)
        : await applyHints(ref, payment, messages);
      const unread = stored.filter(({ isUnread }) => isUnread).map(({ id }) => id);
      await markMessagesRead(db, unread, new Date());
      return { ...told, isAsked: told.isAsked || unread.length === 0, lastMessageId: stored.at(-1)?.id ?? 0n };
    },

    /** One statement, before the call: the query whose answer comes to an address of its own. Null where the answer comes at once. */
    async beginQuery(ref: PaymentRef, { row }: LoadedPayment, lastMessageId: bigint): Promise<string | null> {
      if (!isToldByCallback(row)) return null;
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
    // An answer that says nothing is not asked about at once, and answers that never agree are not for ever: the schedule goes on.
    const isNews = messages.some(({ isUnread, queryId }) => isUnread && queryId === null);
    const isDecided = queried !== null && queried.status.kind !== 'pending';
    const isAsked = !isDecided && (isUnconfirmed || isNews) && queries.length < MOST_ASKED_AT_ONCE;
    if (queried === null) return { payment, queried, isAsked };
    await recorder.recordStatus(ref, payment, queried, null);
    return { payment: await kinds.load(ref), queried, isAsked };
  }

  /** Where statuses are answered on the spot a message decides nothing, and is always a reason to ask. */
  async function applyHints(ref: PaymentRef, payment: LoadedPayment, messages: readonly ReadMessage[]) {
    const { row } = payment;
    const paid = messages.find(({ issuedId, status }) => issuedId === row.operatorIssuedId && status.kind === 'paid');
    if (row.operatorIssuedId !== null && paid?.status.kind === 'paid') await noteReceipt(ref, row, paid.status, deps);
    return { payment: withNamedId(payment, messages), queried: null, isAsked: true };
  }
}

function isToldByCallback(row: Payment): boolean {
  return capabilitiesOf(row).status === 'by_callback';
}

async function noteReceipt(
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
  const message = stored.isAttested ? messageIn(stored, read) : null;
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
  read: NonNullable<Operator['readMessage']>,
): OperatorMessage | null {
  try {
    return read(purpose, JSON.parse(body) as unknown);
  } catch {
    // It is no JSON: it says nothing, and stays where a person finds it.
    return null;
  }
}

/** What it names must be ours. What it does not name, its address does. */
function isAbout({ issuedId, operatorReference }: OperatorMessage, row: Payment): boolean {
  const isOurs = operatorReference === null || operatorReference.toLowerCase() === row.operatorReference;
  return isOurs && (issuedId === null || row.operatorIssuedId === null || issuedId === row.operatorIssuedId);
}

/** Where the response that had the id was lost: the one id that messages to its own address name, if all of these say that it failed. */
function withNamedId(payment: LoadedPayment, messages: readonly ReadMessage[]): LoadedPayment {
  const { sent } = payment;
  if (sent.issuedId !== null) return payment;
  const named = messages.filter(({ issuedId }) => issuedId !== null);
  const namedId = named[0]?.issuedId ?? null;
  const isOne = named.every(({ issuedId, status }) => issuedId === namedId && status.kind === 'declined');
  return isOne ? { ...payment, sent: { ...sent, namedId } } : payment;
}

/**
 * Whether an answer counts where the id that the operator issued is lost. Paid is only what it finds by our reference: that alone names
 * a receipt. Failed is what messages to the payment's own address say, too; their id is recorded first, which fails where it is that of
 * another payment.
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

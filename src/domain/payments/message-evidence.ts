// The evidence in all messages about a payment whose status comes by callback: no single message gives money to a merchant. Pure.
import type { OperatorStatus, QueriedStatus } from './operator-status.ts';
import { isFinal, type PaymentState } from './payment.ts';

/** A message that came to an address which the operator got for this payment, or for a query about it. */
export type SolicitedMessage = {
  /** Later ones have larger numbers. */
  readonly id: bigint;
  /** The query to whose address it came; null: it came to an address of the payment. */
  readonly queryId: string | null;
  readonly receivedAt: Date;
  readonly status: OperatorStatus;
};

/** A query whose answer is a message to its own address. */
export type AskedQuery = {
  readonly id: string;
  readonly askedAt: Date;
  /** The last message that had come when it began, 0 for none. */
  readonly seenMessageId: bigint;
};

export type MessageEvidence = {
  /** What may be recorded; null: nothing. */
  readonly queried: QueriedStatus | null;
  /** Whether a message says how the payment ended, which no query asked about since. */
  readonly isUnconfirmed: boolean;
};

/**
 * One message proves that the operator has a pending payment, or paid it. A return, a failure, or a contradiction of the record takes two
 * messages that agree, and the second must answer a query that began after the first came. The first of the two gives the failure code: it
 * is the operator's result, where a status may name no reason. Of several messages to the address of one query only the first counts. A
 * message to the address of a query that nobody made never counts.
 */
export function messageEvidence(
  messages: readonly SolicitedMessage[],
  queries: readonly AskedQuery[],
  state: PaymentState,
): MessageEvidence {
  const queryOf = new Map(queries.map((query) => [query.id, query]));
  const counted = messages
    .filter(({ id, queryId }) => queryId === null || isFirstAnswer(id, queryId, messages, queryOf))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  const decisive = counted.filter(({ status }) => DECISIVE.has(status.kind) && status.kind !== RECORDED_BY[state]);
  const paid = isFinal(state) ? undefined : decisive.find(({ status }) => status.kind === 'paid');
  const confirmed = decisive
    .map((message) => confirmedResult(message, decisive, queryOf))
    .findLast((each) => each !== null);
  const last = decisive.at(-1);
  const isUnconfirmed = last !== undefined && !queries.some(({ seenMessageId }) => seenMessageId >= last.id);
  const deciding = paid ?? confirmed;
  if (deciding !== undefined) return { queried: queriedOf(deciding, queryOf), isUnconfirmed: false };
  const known = isFinal(state) ? undefined : counted.find(({ status }) => SHOWS_IT.has(status.kind));
  const queried = known ? ({ status: { kind: 'pending' }, queriedAtMs: known.receivedAt.getTime() } as const) : null;
  return { queried, isUnconfirmed };
}

/** The statuses that report an outcome, or another payment or other money than requested. */
const DECISIVE: ReadonlySet<OperatorStatus['kind']> = new Set([
  ...(['paid', 'returned', 'declined'] as const),
  ...(['paid_otherwise', 'other_payment'] as const),
]);
/** The status that each final state already records. */
const RECORDED_BY: Readonly<Partial<Record<PaymentState, OperatorStatus['kind']>>> = {
  succeeded: 'paid',
  failed: 'declined',
  reversed: 'returned',
};
/** The statuses that prove that the operator has the payment. */
const SHOWS_IT: ReadonlySet<OperatorStatus['kind']> = new Set([...DECISIVE, 'pending', 'unreadable']);

type Queries = ReadonlyMap<string, AskedQuery>;

function isFirstAnswer(id: bigint, queryId: string, messages: readonly SolicitedMessage[], queryOf: Queries): boolean {
  return queryOf.has(queryId) && !messages.some((other) => other.queryId === queryId && other.id < id);
}

/** The message, with the status of the earliest message that it confirms; null if it confirms none. */
function confirmedResult(
  message: SolicitedMessage,
  decisive: readonly SolicitedMessage[],
  queryOf: Queries,
): SolicitedMessage | null {
  const { id, queryId, status } = message;
  const query = queryId === null ? undefined : queryOf.get(queryId);
  if (query === undefined) return null;
  const first = decisive.find((each) => each.id < id && each.id <= query.seenMessageId && agrees(each.status, status));
  return first === undefined ? null : { ...message, status: first.status };
}

function agrees(one: OperatorStatus, other: OperatorStatus): boolean {
  const receiptOf = (status: OperatorStatus) => ('operatorReceipt' in status ? status.operatorReceipt : null);
  return one.kind === other.kind && receiptOf(one) === receiptOf(other);
}

// An answer holds for the time of its query at least.
function queriedOf({ queryId, receivedAt, status }: SolicitedMessage, queryOf: Queries): QueriedStatus {
  const askedAt = queryId === null ? undefined : queryOf.get(queryId)?.askedAt;
  return { status, queriedAtMs: (askedAt ?? receivedAt).getTime() };
}

// The three kinds of payment through the operator port, behind one type, so that one suite can test each.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Money } from '../../src/domain/money.ts';
import {
  OPERATORS,
  type Capabilities,
  type MessagePurpose,
  type OperatorId,
} from '../../src/domain/payments/operator-catalogue.ts';
import type { Operator, OperatorMessage, SendOutcome, SentPayment, StatusOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-harness.ts';
import type { DirectionName } from './rows.ts';
import { sentAs } from '../support/sent-payment.ts';

/** An adapter connected to its sandbox operator. */
export type AdapterHarness = {
  readonly operator: Operator;
  readonly money: Money;
  readonly phone: (ending: string) => string;
  /** Bodies of the received callbacks, oldest first. */
  readonly callbacks: readonly unknown[];
  /**
   * What came to the address of this purpose for a payment or query, oldest first, as the adapter reads it. Null: the operator's callbacks
   * are only hints.
   */
  readonly messages: ((purpose: MessagePurpose, id: string, name: DirectionName) => readonly OperatorMessage[]) | null;
  /** The operator's own counts: requests, and how often one raised a prompt or was accepted as a transfer. */
  seen(operatorReference: string): Promise<{ requestsReceived: number; timesAccepted: number }>;
  setFaults(faults: Record<string, unknown>): Promise<void>;
  /** After what time the sandbox pays a late payment, and how long a prompt is valid. */
  readonly undecidedMs: number;
  readonly promptExpiryMs: number;
  stop(): Promise<void>;
};

type Send = (operatorReference: string) => Promise<SendOutcome>;

/** The collection of each refund by the refund's reference: an operator may give a refund no name of its own. */
const collections = new Map<string, PaidCollection>();

export type PaidCollection = { readonly reference: string; readonly receipt: string | null };

export function collectionOf(refundReference: string): PaidCollection | undefined {
  return collections.get(refundReference);
}

export type Direction = {
  readonly name: DirectionName;
  /** Prepares what is needed, and returns the send for a phone of this row. */
  prepare(harness: AdapterHarness, row: string): Promise<Send>;
  status(operator: Operator, payment: SentPayment): Promise<StatusOutcome>;
};

const collection: Direction = {
  name: 'collection',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.raisePrompt({ operatorReference, phone: phone(row), money, payerMessage: "Amina's order & <more>" }),
    ),
  status: (operator, payment) => operator.getCollectionStatus(payment, () => Promise.resolve(true)),
};

const payout: Direction = {
  name: 'payout',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.sendPayout({ operatorReference, phone: phone(row), money, payeeMessage: "Amina's wages & more" }),
    ),
  status: (operator, payment) => operator.getPayoutStatus(payment),
};

const refund: Direction = {
  name: 'refund',
  async prepare(harness, row) {
    const { operator, money } = harness;
    const original = await collected(harness, row);
    return (operatorReference) => {
      collections.set(operatorReference, original);
      return operator.refundCollection({ operatorReference, ...asOriginal(original), money, note: '"Amina" & Sons' });
    };
  },
  status: (operator, payment) => {
    const { reference } = collectionOf(payment.operatorReference) ?? { reference: randomUUID() };
    return operator.getRefundStatus({ ...payment, originalOperatorReference: reference });
  },
};

export function asOriginal({ reference, receipt }: PaidCollection) {
  return { originalOperatorReference: reference, originalReceipt: receipt };
}

const DIRECTIONS = [collection, payout, refund] as const;

/** Those that the operator offers. */
export function directionsOf(operator: OperatorId): readonly [Direction, ...Direction[]] {
  return OPERATORS[operator].capabilities.refund !== null ? DIRECTIONS : [collection, payout];
}

export function capabilitiesFor({ name }: Direction, operator: OperatorId): Capabilities {
  const capabilities = OPERATORS[operator].capabilities[name];
  assert.ok(capabilities !== null, `${operator} offers no ${name}`);
  return capabilities;
}

/** The status of a payment, as the answer of the operator or as its message to the address of the query. */
export async function statusOf(
  direction: Direction,
  { operator, messages }: AdapterHarness,
  operatorReference: string,
  issuedId: string | null = null,
): Promise<StatusOutcome> {
  const queryId = randomUUID();
  const payment = { ...sentAs(operatorReference), issuedId, sentAt: new Date(), queryId };
  const answered = await direction.status(operator, payment);
  if (answered.kind !== 'asked') return answered;
  const [message] = await until(
    () => messages?.('query', queryId, direction.name) ?? [],
    ({ length }) => length > 0,
  );
  assert.ok(message !== undefined, 'no answer came to the address of the query');
  const { statusKey } = capabilitiesFor(direction, operator.id);
  if (message.status.kind !== 'unknown') {
    const named = statusKey === 'ours' ? message.operatorReference : message.issuedId;
    assert.equal(named, statusKey === 'ours' ? operatorReference : issuedId);
  }
  return message.status;
}

/** Makes a paid collection from a phone of this row. */
export async function collected(harness: AdapterHarness, row: string): Promise<PaidCollection> {
  const reference = randomUUID();
  const send = await collection.prepare(harness, row);
  // A further send might raise a second prompt.
  await until(
    async () => {
      const outcome = await send(reference);
      return outcome.kind === 'accepted' || (await harness.seen(reference)).timesAccepted > 0;
    },
    (isAccepted) => isAccepted,
  );
  const paid = await until(
    () => statusOf(collection, harness, reference),
    (status) => status.kind === 'succeeded',
  );
  assert.ok(paid.kind === 'succeeded', JSON.stringify(paid));
  return { reference, receipt: paid.receipt };
}

/** The first status that decides something. `isUnknownFirst`: until then the operator says nothing of the payment. */
export function final(status: () => Promise<StatusOutcome>, isUnknownFirst = false): Promise<StatusOutcome> {
  return until(status, ({ kind }) => kind !== 'pending' && (kind !== 'unknown' || !isUnknownFirst));
}

/** How many callbacks about the payment came, or messages to its own address. */
export function callbacksOf(
  { operator, callbacks, messages }: AdapterHarness,
  operatorReference: string,
  name: DirectionName,
): number {
  if (messages !== null) return messages('result', operatorReference, name).length;
  return callbacks.filter((body) => operator.parseCallback(body)?.operatorReference === operatorReference).length;
}

/** Sends a payment of this row, once. */
export async function send(
  direction: Direction,
  harness: AdapterHarness,
  row: string,
  operatorReference: string,
): Promise<SendOutcome> {
  return (await direction.prepare(harness, row))(operatorReference);
}

export function issuedIdOf(outcome: SendOutcome): string | null {
  return outcome.kind === 'accepted' ? (outcome.issuedId ?? null) : null;
}

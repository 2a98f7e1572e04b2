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
  readonly messages: ((purpose: MessagePurpose, id: string) => readonly OperatorMessage[]) | null;
  /** The operator's own counts: requests, and how often one raised a prompt or was accepted as a transfer. */
  seen(operatorReference: string): Promise<{ requestsReceived: number; timesAccepted: number }>;
  setFaults(faults: Record<string, unknown>): Promise<void>;
  /** After what time the sandbox pays a late payment, and how long a prompt is valid. */
  readonly undecidedMs: number;
  readonly promptExpiryMs: number;
  stop(): Promise<void>;
};

type Send = (operatorReference: string) => Promise<SendOutcome>;

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
    const originalOperatorReference = await collected(harness, row);
    return (operatorReference) =>
      operator.refundCollection({ operatorReference, originalOperatorReference, money, note: '"Amina" & Sons' });
  },
  status: (operator, payment) => operator.getRefundStatus(payment),
};

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
    () => messages?.('query', queryId) ?? [],
    ({ length }) => length > 0,
  );
  assert.ok(message !== undefined, 'no answer came to the address of the query');
  if (message.status.kind !== 'unknown') assert.equal(message.operatorReference, operatorReference);
  return message.status;
}

/** Makes a paid collection from a phone of this row; returns its reference. */
export async function collected(harness: AdapterHarness, row: string): Promise<string> {
  const reference = randomUUID();
  const send = await collection.prepare(harness, row);
  await until(
    () => send(reference),
    ({ kind }) => kind === 'accepted',
  );
  const { kind } = await until(
    () => statusOf(collection, harness, reference),
    (status) => status.kind === 'succeeded',
  );
  assert.equal(kind, 'succeeded');
  return reference;
}

/** The first status that decides something. While a list has no row of a payment, it says nothing. */
export function final(status: () => Promise<StatusOutcome>, isListed = false): Promise<StatusOutcome> {
  return until(status, ({ kind }) => kind !== 'pending' && (kind !== 'unknown' || !isListed));
}

/** How many callbacks about the payment came, or messages to its own address. */
export function callbacksOf({ operator, callbacks, messages }: AdapterHarness, operatorReference: string): number {
  if (messages !== null) return messages('result', operatorReference).length;
  return callbacks.filter((body) => operator.parseCallback(body)?.operatorReference === operatorReference).length;
}

// The three kinds of payment through the operator port, behind one type, so that one suite can test each.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Money } from '../../src/domain/money.ts';
import { OPERATORS, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
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
  status(operator: Operator, operatorReference: string): Promise<StatusOutcome>;
};

const collection: Direction = {
  name: 'collection',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.raisePrompt({ operatorReference, phone: phone(row), money, payerMessage: "Amina's order & <more>" }),
    ),
  status: (operator, operatorReference) => operator.getCollectionStatus(sentAs(operatorReference)),
};

const payout: Direction = {
  name: 'payout',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.sendPayout({ operatorReference, phone: phone(row), money, payeeMessage: "Amina's wages & more" }),
    ),
  status: (operator, operatorReference) => operator.getPayoutStatus(sentAs(operatorReference)),
};

const refund: Direction = {
  name: 'refund',
  async prepare(harness, row) {
    const { operator, money } = harness;
    const originalOperatorReference = await collected(harness, row);
    return (operatorReference) =>
      operator.refundCollection({ operatorReference, originalOperatorReference, money, note: '"Amina" & Sons' });
  },
  status: (operator, operatorReference) => operator.getRefundStatus(sentAs(operatorReference)),
};

const DIRECTIONS = [collection, payout, refund] as const;

/** Those that the operator offers. */
export function directionsOf(operator: OperatorId): readonly [Direction, ...Direction[]] {
  return OPERATORS[operator].capabilities.refund !== null ? DIRECTIONS : [collection, payout];
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
    () => collection.status(harness.operator, reference),
    (status) => status.kind === 'succeeded',
  );
  assert.equal(kind, 'succeeded');
  return reference;
}

/** The first status that is not pending. */
export function final(status: () => Promise<StatusOutcome>): Promise<StatusOutcome> {
  return until(status, ({ kind }) => kind !== 'pending');
}

export function callbacksOf({ operator, callbacks }: AdapterHarness, operatorReference: string): number {
  return callbacks.filter((body) => operator.parseCallback(body)?.operatorReference === operatorReference).length;
}

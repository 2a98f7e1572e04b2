// The three ways money goes through the operator port, in one form, so that one suite can try each.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Money } from '../../src/domain/money.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../src/operators/port.ts';
import { until } from '../sandbox/sandbox-harness.ts';

/** An adapter with its sandbox operator behind it. */
export type AdapterHarness = {
  readonly operator: Operator;
  readonly money: Money;
  readonly phone: (ending: string) => string;
  /** Bodies of the callbacks that came, oldest first. */
  readonly callbacks: readonly unknown[];
  /** What the operator itself counted: requests, and how often one raised a prompt or was taken to be paid. */
  seen(operatorReference: string): Promise<{ requestsReceived: number; timesAccepted: number }>;
  setFaults(faults: Record<string, unknown>): Promise<void>;
  /** How long the sandbox holds what it leaves undecided, and how long a client waits for a prompt. */
  readonly undecidedMs: number;
  readonly promptExpiryMs: number;
  stop(): Promise<void>;
};

type Send = (operatorReference: string) => Promise<SendOutcome>;

export type Way = {
  readonly name: 'collection' | 'payout' | 'refund';
  /** Does what must be done first, and gives the send for a phone of this row. */
  prepare(harness: AdapterHarness, row: string): Promise<Send>;
  status(operator: Operator, operatorReference: string): Promise<StatusOutcome>;
};

const collection: Way = {
  name: 'collection',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.raisePrompt({ operatorReference, phone: phone(row), money, payerMessage: "Amina's order" }),
    ),
  status: (operator, operatorReference) => operator.getCollectionStatus(operatorReference),
};

const payout: Way = {
  name: 'payout',
  prepare: ({ operator, money, phone }, row) =>
    Promise.resolve((operatorReference) =>
      operator.sendPayout({ operatorReference, phone: phone(row), money, payeeMessage: "Amina's wages" }),
    ),
  status: (operator, operatorReference) => operator.getPayoutStatus(operatorReference),
};

const refund: Way = {
  name: 'refund',
  async prepare(harness, row) {
    const { operator, money } = harness;
    const originalOperatorReference = await collected(harness, row);
    return (operatorReference) =>
      operator.refundCollection({ operatorReference, originalOperatorReference, money, note: "Amina's refund" });
  },
  status: (operator, operatorReference) => operator.getRefundStatus(operatorReference),
};

export const WAYS = [collection, payout, refund] as const;

/** The reference of a collection from a phone of this row that has been paid. */
export async function collected(harness: AdapterHarness, row: string): Promise<string> {
  const reference = randomUUID();
  const send = await collection.prepare(harness, row);
  await until(
    () => send(reference),
    ({ kind }) => kind === 'accepted',
  );
  const { kind } = await final(() => collection.status(harness.operator, reference));
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

// The requests of an adapter byte for byte: a file of vectors for each wire, and the suite that compares them with what is sent.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Currency } from '../../src/domain/money.ts';
import { OPERATORS, type OperatorId } from '../../src/domain/payments/operator-catalogue.ts';
import type { Operator, SentPayment } from '../../src/operators/port.ts';
import { ONE_CALL } from '../support/sent-payment.ts';
import type { Received, StubOperator } from './stub-operator.ts';

/** What a vector gives to the port. `original` is the collection of a refund, and the ids and `sentAt` are of the payment that is asked about. */
type Input = {
  readonly reference: string;
  readonly original?: string;
  readonly originalReceipt?: string;
  readonly issuedId?: string | null;
  readonly queryId?: string;
  readonly sentAt?: string;
  readonly phone: string;
  readonly amountMinor: string;
  readonly currency: Currency;
  readonly note: string;
};

/** Of encrypted headers, and of an encrypted part of the body, it has what the holder of the key reads. */
export type SentRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type VectorFile = {
  readonly input: Input;
  /** What a new adapter sends first, by name. */
  readonly openings: Readonly<Record<string, readonly SentRequest[]>>;
  readonly vectors: readonly {
    readonly title: string;
    readonly call: keyof typeof CALLS;
    /** What differs from the common input. */
    readonly changes: Partial<Input>;
    readonly opening: string;
    readonly sent: SentRequest;
  }[];
};

const CALLS = {
  raisePrompt: (operator: Operator, input: Input) =>
    operator.raisePrompt({ ...namedBy(input), phone: input.phone, payerMessage: input.note }),
  getCollectionStatus: (operator: Operator, input: Input) => operator.getCollectionStatus(sentOf(input), ONE_CALL),
  sendPayout: (operator: Operator, input: Input) =>
    operator.sendPayout({ ...namedBy(input), phone: input.phone, payeeMessage: input.note }),
  getPayoutStatus: (operator: Operator, input: Input) => operator.getPayoutStatus(sentOf(input)),
  refundCollection: (operator: Operator, input: Input) =>
    operator.refundCollection({ ...namedBy(input), ...originalOf(input), note: input.note }),
  getRefundStatus: (operator: Operator, input: Input) =>
    operator.getRefundStatus({ ...sentOf(input), ...originalOf(input) }),
  getPayeeName: (operator: Operator, { phone }: Input) => operator.getPayeeName?.(phone) ?? assert.fail('no names'),
};

const OF_REFUNDS: readonly string[] = ['refundCollection', 'getRefundStatus'];
/** Of the connection, and not of the request. */
const NOT_COMPARED: readonly string[] = ['host', 'connection'];

type VectorWire = {
  readonly stub: Pick<StubOperator, 'received'>;
  readonly operator: Operator;
  /** A new adapter, in a market with this currency. */
  openFor(currency: Currency): Promise<Operator>;
};

/**
 * Each vector is sent by an adapter of its own, so that its opening is complete. `disclosed` is the request as the operator reads it, with
 * its own key.
 */
export function sendsItsVectors(
  id: OperatorId,
  wire: VectorWire,
  disclosed: (sent: SentRequest) => Promise<SentRequest> = (sent) => Promise.resolve(sent),
): void {
  const file = join(import.meta.dirname, id, 'vectors.json');
  const { input, openings, vectors } = JSON.parse(readFileSync(file, 'utf8')) as VectorFile;

  describe(`the requests of ${OPERATORS[id].name}`, () => {
    for (const { title, call, changes, opening, sent } of vectors) {
      it(`${title}, byte for byte`, async () => {
        const given = { ...input, ...changes };
        const operator = await wire.openFor(given.currency);
        await CALLS[call](operator, given);
        const requests = await Promise.all(wire.stub.received.map((one) => disclosed(asSent(one))));
        assert.deepEqual(requests, [...(openings[opening] ?? []), sent]);
      });
    }

    it('have a vector for each call of the port that sends one', () => {
      const offered = Object.keys(CALLS)
        .filter((call) => OPERATORS[id].capabilities.refund !== null || !OF_REFUNDS.includes(call))
        .filter((call) => call !== 'getPayeeName' || wire.operator.getPayeeName !== null);
      const called: ReadonlySet<string> = new Set(vectors.map(({ call }) => call));
      assert.deepEqual(
        offered.filter((call) => !called.has(call)),
        [],
      );
    });
  });
}

function namedBy({ reference, amountMinor, currency }: Input) {
  return { operatorReference: reference, money: { amountMinor: BigInt(amountMinor), currency } };
}

function originalOf({ original, originalReceipt }: Input) {
  return { originalOperatorReference: original ?? '', originalReceipt: originalReceipt ?? null };
}

function sentOf({ reference, issuedId, queryId, sentAt }: Input): SentPayment {
  return {
    operatorReference: reference,
    issuedId: issuedId ?? null,
    namedId: null,
    queryId: queryId ?? null,
    sentAt: sentAt === undefined ? null : new Date(sentAt),
  };
}

function asSent({ method, path, headers, body }: Received): SentRequest {
  const compared = Object.entries(headers).filter(([name]) => !NOT_COMPARED.includes(name));
  return { method, path, headers: Object.fromEntries(compared.map(([name, value]) => [name, String(value)])), body };
}

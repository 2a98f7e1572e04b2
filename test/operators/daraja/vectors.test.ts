// The Daraja adapter's requests, compared with the vectors of its wire: M-Pesa's own key reads what is encrypted.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Currency } from '../../../src/domain/money.ts';
import type { Operator } from '../../../src/operators/port.ts';
import { sentAs } from '../../support/sent-payment.ts';
import { json, type Received } from '../stub-operator.ts';
import { decrypted, useDarajaWire } from './wire-harness.ts';

type Input = {
  readonly reference: string;
  readonly issuedId: string | null;
  readonly sentAt: string;
  readonly queryId: string;
  readonly phone: string;
  readonly amountMinor: string;
  readonly currency: Currency;
  readonly note: string;
};

/** Of an encrypted part of the body it has what the holder of the key reads, and no random id. */
type SentRequest = {
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
    operator.raisePrompt({ ...paymentOf(input), payerMessage: input.note }),
  getCollectionStatus: (operator: Operator, input: Input) => operator.getCollectionStatus(sentOf(input)),
  sendPayout: (operator: Operator, input: Input) =>
    operator.sendPayout({ ...paymentOf(input), payeeMessage: input.note }),
  getPayoutStatus: (operator: Operator, input: Input) => operator.getPayoutStatus(sentOf(input)),
  getPayeeName: (operator: Operator, { phone }: Input) => operator.getPayeeName?.(phone) ?? assert.fail('no names'),
};

/** Of the connection, and not of the request. */
const NOT_COMPARED: readonly string[] = ['host', 'connection'];

describe('the requests of M-Pesa', () => {
  const wire = useDarajaWire();
  const file = join(import.meta.dirname, 'vectors.json');
  const { input, openings, vectors } = JSON.parse(readFileSync(file, 'utf8')) as VectorFile;

  for (const { title, call, changes, opening, sent } of vectors) {
    it(`${title}, byte for byte`, async () => {
      wire.reply(json(500, {}));
      await CALLS[call](wire.operator, { ...input, ...changes });
      assert.deepEqual(wire.stub.received.map(asSent), [...(openings[opening] ?? []), sent]);
    });
  }

  it('have a vector for each call of the port that sends one', () => {
    assert.deepEqual(new Set(vectors.map(({ call }) => call)), new Set(Object.keys(CALLS)));
  });
});

function paymentOf({ reference, phone, amountMinor, currency }: Input) {
  return { operatorReference: reference, phone, money: { amountMinor: BigInt(amountMinor), currency } };
}

function sentOf({ reference, issuedId, queryId, sentAt }: Input) {
  return { ...sentAs(reference), issuedId, queryId, sentAt: new Date(sentAt) };
}

function asSent({ method, path, headers, body }: Received): SentRequest {
  const compared = Object.entries(headers).filter(([name]) => !NOT_COMPARED.includes(name));
  return {
    method,
    path,
    headers: Object.fromEntries(compared.map(([name, value]) => [name, String(value)])),
    body: body
      .replace(/(?<="SecurityCredential":")[^"]+/, (encrypted) => `RSA(${decrypted(encrypted)})`)
      .replace(/(?<="requestID":")[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=")/, 'UUID'),
  };
}

// The Daraja adapter in front of a stub operator, which has M-Pesa's key and answers what a test chooses.
import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import type { Trouble } from '../../../src/domain/payments/breaker.ts';
import { createDaraja, type DarajaConfig } from '../../../src/operators/daraja/daraja.ts';
import type { Operator, SendOutcome } from '../../../src/operators/port.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { json, raw, startStubOperator, type Reply, type StubOperator } from '../stub-operator.ts';
import { CHECKOUT_ID, CONVERSATION_ID, REFERENCE } from './samples.ts';

export const TIMEOUT_MS = 150;
const AMPLE_MS = 20_000;
/** 11:45:02 in Nairobi. */
export const NOW_MS = Date.UTC(2026, 10, 27, 8, 45, 2);
export const QUERY_ID = '0194f0a1-7c2b-4d3e-8f40-5a6b7c8d9e0f';

export const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export type DarajaWire = {
  stub: StubOperator;
  operator: Operator;
  open(changes?: Partial<DarajaConfig>): Operator;
  reply(reply: Reply): void;
  timeOutEarly(): Promise<void>;
};

/** A stub operator and an adapter for each test of the surrounding suite. */
export function useDarajaWire(): DarajaWire {
  const wire = {
    open: (changes) =>
      createDaraja({
        baseUrl: wire.stub.url,
        credentials: { consumerKey: 'the-key', consumerSecret: 'the-secret' },
        shortcode: '174379',
        passkey: 'the-passkey',
        payoutShortcode: '600997',
        initiatorName: 'testapi',
        initiatorPassword: 'Safaricom#1',
        certificate: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
        // Daraja refuses addresses with the word `query`.
        addressOf: (purpose, reference, queryId) =>
          `https://pay.example/o/${purpose === 'query' ? 'status' : purpose}/${queryId ?? reference}`,
        requestTimeoutMs: AMPLE_MS,
        connections: 4,
        tokens: ownTokens(),
        nowMs: () => NOW_MS,
        ...changes,
      }),
    reply(reply) {
      wire.stub.set({ call: reply });
    },
    async timeOutEarly() {
      await wire.operator.close();
      wire.operator = wire.open({ requestTimeoutMs: TIMEOUT_MS });
    },
  } as DarajaWire;
  beforeEach(async () => {
    wire.stub = await startStubOperator();
    wire.operator = wire.open();
  });
  afterEach(async () => {
    await wire.operator.close();
    await wire.stub.stop();
  });
  return wire;
}

export function promptAccepted(changes: object = {}): Reply {
  return json(200, {
    MerchantRequestID: '29115-34620561-1',
    CheckoutRequestID: CHECKOUT_ID,
    ResponseCode: '0',
    ResponseDescription: 'Success. Request accepted for processing',
    CustomerMessage: 'Success. Request accepted for processing',
    ...changes,
  });
}

export function requestAccepted(changes: object = {}): Reply {
  return json(200, {
    ConversationID: CONVERSATION_ID,
    OriginatorConversationID: REFERENCE,
    ResponseCode: '0',
    ResponseDescription: 'Accept the service request successfully.',
    ...changes,
  });
}

export function errorOf(status: number, errorCode: unknown): Reply {
  return json(status, { requestId: '4801-6581936-1', errorCode, errorMessage: 'x' });
}

export function faultOf(status: number, errorcode: string): Reply {
  return json(status, { fault: { faultstring: 'x', detail: { errorcode } } });
}

type Unknown = Extract<SendOutcome, { kind: 'unknown' }>;

export function unknown(reason: string, cause?: Trouble): Unknown {
  return { kind: 'unknown', reason, ...(cause && { cause }) };
}

/** Daraja did nothing with the request. */
export function unprocessed(reason: string, cause?: Trouble): Unknown {
  return { ...unknown(reason, cause), isUnprocessed: true };
}

export type Case<Outcome> = readonly [what: string, reply: Reply, outcome: Outcome];

/** What every call makes of answers that are no success, besides those that refuse the token. */
export const NO_ANSWERS: readonly Case<Unknown>[] = [
  ['429', raw(429, ''), unprocessed('http 429', 'busy')],
  ['500.003.02', errorOf(500, '500.003.02'), unprocessed('http 500 500.003.02', 'busy')],
  ['500.003.03', errorOf(500, '500.003.03'), unprocessed('http 500 500.003.03', 'busy')],
  ['500.003.02 with success', errorOf(200, '500.003.02'), unknown('http 200 500.003.02')],
  [
    'an application without this API',
    faultOf(401, 'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound'),
    unprocessed('http 401', 'account'),
  ],
  ['401 of somebody', raw(401, '<html></html>'), unknown('http 401', 'account')],
  ['403 of a firewall', raw(403, '<html></html>'), unknown('http 403', 'account')],
  ['400.002.02', errorOf(400, '400.002.02'), unknown('http 400 400.002.02')],
  ['404.001.01', errorOf(404, '404.001.01'), unknown('http 404 404.001.01')],
  ['404 of a proxy', raw(404, '<html></html>'), unknown('http 404')],
  ['503', errorOf(503, '500.003.1001'), unknown('http 503 500.003.1001', 'busy')],
  ['504', raw(504, ''), unknown('http 504', 'no_answer')],
  ['500', raw(500, ''), unknown('http 500', 'no_answer')],
  ['500.002.1001', errorOf(500, '500.002.1001'), unknown('http 500 500.002.1001', 'no_answer')],
  ['a code that is no text', errorOf(400, { a: 1 }), unknown('http 400')],
  ['a personal text as code', errorOf(400, 'Amina 254712345678'), unknown('http 400')],
  ['a page', raw(200, '<html></html>'), unknown('http 200')],
  ['nothing', raw(200, ''), unknown('http 200')],
  ['a list', json(200, []), unknown('http 200')],
  ['302', raw(302, ''), unknown('http 302')],
];

/** Declares one test a case: `call`, to which the operator sends the reply, gives the outcome, and is sent once. */
export function itMaps<Outcome extends { readonly kind: string }>(
  wire: DarajaWire,
  cases: readonly Case<Outcome>[],
  call: () => Promise<unknown>,
): void {
  for (const [what, reply, outcome] of cases) {
    it(`maps ${what} to ${outcome.kind}, and sends nothing again`, async () => {
      wire.reply(reply);
      assert.deepEqual(await call(), outcome);
      assert.deepEqual(wire.stub.calls().length, 1);
    });
  }
}

/** What the holder of the private key reads. */
export function decrypted(base64: string): string {
  const bytes = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, Buffer.from(base64, 'base64'));
  return bytes.toString('utf8', bytes.indexOf(0, 2) + 1);
}

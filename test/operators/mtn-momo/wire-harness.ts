// The MTN MoMo adapter in front of a stub operator, and the responses that its wire tests have in common.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createMtnMomo, type MtnMomoConfig } from '../../../src/operators/mtn-momo/mtn-momo.ts';
import type { FailureCode } from '../../../src/domain/payments/failure.ts';
import type { Trouble } from '../../../src/domain/payments/breaker.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { halfBody, json, raw, startStubOperator, type Reply, type StubOperator } from '../stub-operator.ts';

export const REFERENCE = randomUUID();
/** For replies that never end; all other calls have more time than any machine needs. */
export const TIMEOUT_MS = 150;
const AMPLE_MS = 20_000;

export const silence: Reply = () => undefined;
export const endless: Reply = (response) => response.writeHead(200).write('{');
export const cut: Reply = (response) => response.destroy();

export const PAID = {
  amount: '500',
  currency: 'UGX',
  externalId: REFERENCE,
  financialTransactionId: '363440463',
  status: 'SUCCESSFUL',
};

/** A status of the paid payment with these changes. */
export const paidWith = (changes: object): Reply => json(200, { ...PAID, ...changes });
export const failed = (reason?: unknown): Reply => paidWith({ status: 'FAILED', reason });
export const errorOf = (status: number, code: string): Reply => json(status, { code });

export type MtnWire = {
  stub: StubOperator;
  operator: Operator;
  open(changes?: Partial<MtnMomoConfig>): Operator;
  /** Sends this reply to every call; after a reply that never ends the adapter times out early. */
  reply(reply: Reply): Promise<void>;
  timeOutEarly(): Promise<void>;
};

/** A stub operator and an adapter for each test of the surrounding suite. */
export function useMtnWire(): MtnWire {
  const wire = {
    open: (changes) =>
      createMtnMomo({
        baseUrl: wire.stub.url,
        targetEnvironment: 'mtnuganda',
        callbackUrl: (reference) => `https://pay.example/operators/mtn-momo/callbacks/${reference}`,
        collection: { subscriptionKey: 'the-key', apiUser: 'the-user', apiKey: 'the-secret' },
        disbursement: { subscriptionKey: 'out-key', apiUser: 'out-user', apiKey: 'out-secret' },
        requestTimeoutMs: AMPLE_MS,
        connections: 4,
        tokens: { collection: ownTokens(), disbursement: ownTokens() },
        ...changes,
      }),
    async reply(reply) {
      wire.stub.set({ call: reply });
      if (reply === silence || reply === endless) await wire.timeOutEarly();
    },
    async timeOutEarly() {
      await wire.operator.close();
      wire.operator = wire.open({ requestTimeoutMs: TIMEOUT_MS });
    },
  } as MtnWire;
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

/**
 * Fails unless the first two requests get a token and send to this path, with the credentials that begin with
 * `whose`; returns the body that was sent.
 */
export function assertFirstSend({ received }: StubOperator, path: string, whose: 'the' | 'out'): unknown {
  const [token, call] = received;
  const basic = Buffer.from(`${whose}-user:${whose}-secret`).toString('base64');
  assert.equal(`${token?.method} ${token?.path}`, `POST /${path.split('/')[1]}/token/`);
  assert.equal(token?.headers.authorization, `Basic ${basic}`);
  assert.equal(token.headers['ocp-apim-subscription-key'], `${whose}-key`);
  assert.equal(`${call?.method} ${call?.path}`, `POST ${path}`);
  assert.equal(call?.headers.authorization, 'Bearer token-1');
  assert.equal(call.headers['ocp-apim-subscription-key'], `${whose}-key`);
  assert.equal(call.headers['x-reference-id'], REFERENCE);
  assert.equal(call.headers['x-target-environment'], 'mtnuganda');
  assert.equal(call.headers['x-callback-url'], `https://pay.example/operators/mtn-momo/callbacks/${REFERENCE}`);
  assert.match(String(call.headers['content-type']), /^application\/json/);
  return JSON.parse(call.body);
}

type Unknown = Extract<SendOutcome, { kind: 'unknown' }>;

export function unknown(reason: string, cause?: Trouble): Unknown {
  return { kind: 'unknown', reason, ...(cause && { cause }) };
}

/** MTN refuses our account, whatever the payment. */
export function ofAccount(reason: string): Unknown {
  return unknown(reason, 'account');
}

export function busy(reason: string): Unknown {
  return unknown(reason, 'busy');
}

/** Nothing was sent. */
export function unsent(outcome: Unknown): Unknown {
  return { ...outcome, isUnprocessed: true };
}

export function noAnswer(reason: string): Unknown {
  return unknown(reason, 'no_answer');
}

export const FAILED_UNLISTED: StatusOutcome = { kind: 'unreadable', reason: 'failed, for a reason that is not listed' };

export function refused(
  code: 'operator_rejected' | 'payer_not_found' | 'operator_unavailable',
  operatorCode: string,
): SendOutcome {
  return { kind: 'refused', code, operatorCode };
}

export function failedAs(code: FailureCode, operatorCode: string): StatusOutcome {
  return { kind: 'failed', code, operatorCode, money: { amount: '500', currency: 'UGX' } };
}

/** What the operator sends, and the outcome that the adapter makes of it. */
export type Case<Outcome> = readonly [what: string, reply: Reply, outcome: Outcome];

/** Declares one test a case: `call`, to which the operator sends the reply, gives the outcome. */
export function itMaps<Outcome extends { readonly kind: string }>(
  wire: MtnWire,
  cases: readonly Case<Outcome>[],
  call: () => Promise<Outcome>,
  suffix = '',
): void {
  for (const [what, reply, outcome] of cases) {
    it(`maps ${what} to ${outcome.kind}${suffix}`, async () => {
      await wire.reply(reply);
      assert.deepEqual(await call(), outcome);
    });
  }
}

/** Responses to a send that mean the same for a collection, a payout and a refund. */
export const SEND_CASES: readonly Case<SendOutcome>[] = [
  ['202', raw(202, ''), { kind: 'accepted' }],
  [
    '409 for a known reference',
    json(409, { code: 'RESOURCE_ALREADY_EXIST', message: 'x' }),
    { kind: 'accepted', isRepeated: true },
  ],
  ['409 without a code', raw(409, ''), unknown('http 409')],
  ['400 without a body', raw(400, ''), unknown('http 400')],
  ["403 with a firewall's page", raw(403, '<html>Request Rejected</html>'), ofAccount('http 403')],
  [
    '400 INVALID_CALLBACK_URL_HOST',
    errorOf(400, 'INVALID_CALLBACK_URL_HOST'),
    ofAccount('http 400 INVALID_CALLBACK_URL_HOST'),
  ],
  ['500 NOT_ALLOWED', errorOf(500, 'NOT_ALLOWED'), ofAccount('http 500 NOT_ALLOWED')],
  ['500 with a new code', errorOf(500, 'NEW_CODE'), unknown('http 500 NEW_CODE')],
  ['500 without a body', raw(500, ''), unknown('http 500')],
  ['503', errorOf(503, 'SERVICE_UNAVAILABLE'), busy('http 503 SERVICE_UNAVAILABLE')],
  ['429', raw(429, ''), busy('http 429')],
  ["502 with a gateway's page", raw(502, '<html>Bad Gateway</html>'), noAnswer('http 502')],
  ['504', raw(504, ''), noAnswer('http 504')],
  ['404 without a body', raw(404, ''), unknown('http 404')],
  ['a cut connection', cut, noAnswer('connection failed: UND_ERR_SOCKET')],
  ['half a body', halfBody(400, '{"code": "NOT_ALLOWED"}'), noAnswer('connection failed: UND_ERR_SOCKET')],
  ['no response', silence, noAnswer(`timed out after ${TIMEOUT_MS} ms`)],
];

// The Airtel Money adapter in front of a stub operator, which has a key pair and answers what a test chooses.
import { constants, createDecipheriv, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { marketOf } from '../../../src/domain/payments/operator-catalogue.ts';
import { createAirtelMoney, type AirtelMoneyConfig } from '../../../src/operators/airtel-money/airtel-money.ts';
import { transactionIdOf } from '../../../src/operators/airtel-money/transaction-id.ts';
import type { Operator, SendOutcome, StatusOutcome } from '../../../src/operators/port.ts';
import { ownTokens } from '../../support/own-tokens.ts';
import { json, startStubOperator, type Received, type Reply, type StubOperator } from '../stub-operator.ts';

export const REFERENCE = 'a3bb189e-8bf9-4c2a-9f00-0123456789ab';
export const ID = transactionIdOf(REFERENCE);
export const TIMEOUT_MS = 150;
const AMPLE_MS = 20_000;
const KEYS_PATH = '/v1/rsa/encryption-keys';

export const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
const published = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

export type AirtelWire = {
  stub: StubOperator;
  operator: Operator;
  open(changes?: Partial<AirtelMoneyConfig>): Operator;
  reply(reply: Reply): void;
  /** Answers to requests for the key, from now on. */
  replyToKeys(reply: Reply): void;
  /** What was called besides tokens and keys. */
  calls(): Received[];
  keyRequests(): number;
  timeOutEarly(): Promise<void>;
};

export const PUBLISHED: Reply = json(200, {
  data: { key_id: '45', key: published, valid_upto: '12/08/2026 13:46:55' },
  status: { success: true },
});

/** A stub operator and an adapter for each test of the surrounding suite. */
export function useAirtelWire(): AirtelWire {
  let call: Reply = taken();
  let keys = PUBLISHED;
  const isForKey = ({ path }: Received) => path === KEYS_PATH;
  const wire = {
    open: (changes) =>
      createAirtelMoney({
        baseUrl: wire.stub.url,
        credentials: { clientId: 'the-client', clientSecret: 'the-secret' },
        pin: '2580',
        market: marketOf('airtel-money', 'UG'),
        requestTimeoutMs: AMPLE_MS,
        connections: 4,
        tokens: ownTokens(),
        ...changes,
      }),
    reply(reply) {
      call = reply;
    },
    replyToKeys(reply) {
      keys = reply;
    },
    calls: () => wire.stub.calls().filter((one) => !isForKey(one)),
    keyRequests: () => wire.stub.calls().filter(isForKey).length,
    async timeOutEarly() {
      await wire.operator.close();
      wire.operator = wire.open({ requestTimeoutMs: TIMEOUT_MS });
    },
  } as AirtelWire;
  beforeEach(async () => {
    [call, keys] = [taken(), PUBLISHED];
    wire.stub = await startStubOperator();
    wire.stub.set({
      call(response, one) {
        (isForKey(one) ? keys : call)(response, one);
      },
    });
    wire.operator = wire.open();
  });
  afterEach(async () => {
    await wire.operator.close();
    await wire.stub.stop();
  });
  return wire;
}

/** An answer with these codes; a collection's or payout's where it begins with DP. */
export function answered(isSuccess: boolean, codes: Record<string, unknown>, httpStatus = 200): Reply {
  return json(httpStatus, { status: { code: String(httpStatus), message: 'x', success: isSuccess, ...codes } });
}

export function taken(code = 'DP00800001006'): Reply {
  return answered(true, { response_code: code, result_code: 'ESB000010' });
}

/** An enquiry's answer about the payment. */
export function enquired(transaction: Record<string, unknown>, codes: Record<string, unknown> = {}): Reply {
  return json(200, {
    data: { transaction: { id: ID, message: 'x', ...transaction } },
    status: { code: '200', message: 'SUCCESS', result_code: 'ESB000010', success: true, ...codes },
  });
}

export function unknown(reason: string): { readonly kind: 'unknown'; readonly reason: string } {
  return { kind: 'unknown', reason };
}

export function ofAccount(reason: string): SendOutcome {
  return { kind: 'unknown', reason, cause: 'account' };
}

export type Case<Outcome> = readonly [what: string, reply: Reply, outcome: Outcome];

/** Declares one test a case: `call`, to which the operator sends the reply, gives the outcome. */
export function itMaps<Outcome extends SendOutcome | StatusOutcome>(
  wire: AirtelWire,
  cases: readonly Case<Outcome>[],
  call: () => Promise<Outcome>,
  assertEqual: (actual: Outcome, expected: Outcome) => void,
): void {
  for (const [what, reply, outcome] of cases) {
    it(`maps ${what} to ${outcome.kind}`, async () => {
      wire.reply(reply);
      assertEqual(await call(), outcome);
    });
  }
}

/** What the holder of the private key reads. */
export function decrypted(base64: string): string {
  const bytes = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, Buffer.from(base64, 'base64'));
  return bytes.toString('utf8', bytes.indexOf(0, 2) + 1);
}

/** The bytes that the two headers sign. */
export function signedBytes(headers: Received['headers']): string {
  const [key = '', iv = ''] = decrypted(String(headers['x-key'])).split(':');
  const cipher = createDecipheriv('aes-256-cbc', Buffer.from(key, 'base64'), Buffer.from(iv, 'base64'));
  return cipher.update(String(headers['x-signature']), 'base64', 'utf8') + cipher.final('utf8');
}

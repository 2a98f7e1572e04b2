// A plain client of Daraja at the sandbox operator, which keeps to Safaricom's documents and shares no code with the adapter.
import assert from 'node:assert/strict';
import { constants, publicEncrypt, randomUUID } from 'node:crypto';
import { request } from 'undici';
import { DARAJA, hasAtLeast, send, until, type Receiver, type WireResponse } from './sandbox-harness.ts';

type Fields = Readonly<Record<string, unknown>>;

export type DarajaClient = {
  token(query?: string, authorization?: string): Promise<WireResponse>;
  /** Sends `body` as it is. */
  post(path: string, body: unknown, authorization?: string): Promise<WireResponse>;
  push(fields?: Fields, authorization?: string): Promise<WireResponse>;
  query(checkoutRequestId: unknown, fields?: Fields): Promise<WireResponse>;
  pay(fields?: Fields): Promise<WireResponse>;
  /** One of the requests that are answered later; the answer comes to `ResultURL`. */
  ask(path: string, fields: Fields): Promise<WireResponse>;
  pull(fields?: Fields): Promise<WireResponse>;
  /** Encrypted with the certificate that the sandbox publishes. */
  credential(password?: string): Promise<string>;
  /** What the inspection shows of this reference. */
  seen(reference: string): Promise<Record<string, unknown>[]>;
};

export const PATHS = {
  push: '/mpesa/stkpush/v1/processrequest',
  query: '/mpesa/stkpushquery/v1/query',
  pay: '/mpesa/b2c/v3/paymentrequest',
  status: '/mpesa/transactionstatus/v1/query',
  balance: '/mpesa/accountbalance/v1/query',
  reversal: '/mpesa/reversal/v1/request',
  name: '/mpesa/b2c/hakikisha/v1/hakikisha',
  pull: '/pulltransactions/v1/query',
};

/** Of a payment in the years from 2026 to 2031. */
export const RECEIPT = /^[U-Z][A-L][1-9A-V][0-9A-Z]{7}$/;

const TIMESTAMP = '20261127101530';
const HOUR_MS = 60 * 60_000;

export const phoneOf = (row: string) => `254712345${row}`;

/** The time in Nairobi, as Pull takes it. */
export const nairobi = (atMs: number) => new Date(atMs + 3 * HOUR_MS).toISOString().replace('T', ' ').slice(0, 19);

export function darajaClient(sandbox: { readonly url: string }, callbacks: { readonly url: string }): DarajaClient {
  let bearer = '';
  let certificate = '';

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  const ofClient = () => basic(`${DARAJA.consumerKey}:${DARAJA.consumerSecret}`);
  const token = (query = 'grant_type=client_credentials', authorization = ofClient()) =>
    send(`${sandbox.url}/oauth/v1/generate?${query}`, 'GET', { Authorization: authorization });

  async function post(path: string, body: unknown, authorization?: string): Promise<WireResponse> {
    if (authorization === undefined && bearer === '')
      bearer = `Bearer ${String((await token()).body?.['access_token'])}`;
    const headers = { 'Content-Type': 'application/json', Authorization: authorization ?? bearer };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await send(`${sandbox.url}${path}`, 'POST', headers, text);
    if (response.body?.['errorCode'] === '404.001.03') bearer = '';
    return response;
  }

  const merchant = () => ({
    BusinessShortCode: DARAJA.shortcode,
    Password: Buffer.from(DARAJA.shortcode + DARAJA.passkey + TIMESTAMP).toString('base64'),
    Timestamp: TIMESTAMP,
  });

  async function credential(password = DARAJA.initiatorPassword): Promise<string> {
    if (certificate === '') {
      const response = await request(`${sandbox.url}/sandbox/daraja/certificate`);
      certificate = await response.body.text();
    }
    const key = { key: certificate, padding: constants.RSA_PKCS1_PADDING };
    return publicEncrypt(key, Buffer.from(password)).toString('base64');
  }

  return {
    token,
    post,
    credential,
    push: (fields = {}, authorization?: string) =>
      post(
        PATHS.push,
        {
          ...merchant(),
          TransactionType: 'CustomerPayBillOnline',
          Amount: 500,
          PartyA: phoneOf('500'),
          PartyB: DARAJA.shortcode,
          PhoneNumber: phoneOf('500'),
          CallBackURL: callbacks.url,
          AccountReference: newReference(),
          TransactionDesc: 'Order 17',
          ...fields,
        },
        authorization,
      ),
    query: (checkoutRequestId, fields = {}) =>
      post(PATHS.query, { ...merchant(), CheckoutRequestID: checkoutRequestId, ...fields }),
    pay: async (fields = {}) =>
      post(PATHS.pay, {
        OriginatorConversationID: randomUUID(),
        InitiatorName: DARAJA.initiatorName,
        SecurityCredential: await credential(),
        CommandID: 'BusinessPayment',
        Amount: 500,
        PartyA: DARAJA.payoutShortcode,
        PartyB: phoneOf('500'),
        Remarks: 'Wages',
        QueueTimeOutURL: `${callbacks.url}/timeout`,
        ResultURL: callbacks.url,
        Occassion: '',
        ...fields,
      }),
    ask: async (path, fields) =>
      post(path, {
        Initiator: DARAJA.initiatorName,
        SecurityCredential: await credential(),
        Remarks: 'ok',
        QueueTimeOutURL: `${callbacks.url}/timeout`,
        ResultURL: callbacks.url,
        ...fields,
      }),
    pull: (fields = {}) =>
      post(PATHS.pull, {
        ShortCode: DARAJA.shortcode,
        StartDate: nairobi(Date.now() - HOUR_MS),
        EndDate: nairobi(Date.now() + HOUR_MS),
        OffSetValue: '0',
        ...fields,
      }),
    async seen(reference) {
      const response = await request(`${sandbox.url}/sandbox/transactions?reference=${reference}`);
      return (await response.body.json()) as Record<string, unknown>[];
    },
  };
}

/** Ten characters that no other test uses. */
export function newReference(): string {
  return randomUUID().replaceAll('-', '').slice(0, 10).toUpperCase();
}

/** A prompt at the phone of this row, which must be accepted; returns its CheckoutRequestID. */
export async function pushed(client: DarajaClient, row: string, fields: Fields = {}): Promise<string> {
  const { status, body } = await client.push({ PartyA: phoneOf(row), PhoneNumber: phoneOf(row), ...fields });
  assert.deepEqual([status, body?.['ResponseCode']], [200, '0'], JSON.stringify(body));
  return String(body?.['CheckoutRequestID']);
}

/** The answer to the query of the prompt once it is not in progress any more. */
export async function untilEnded(client: DarajaClient, checkoutRequestId: string): Promise<Record<string, unknown>> {
  const isEnded = ({ body }: WireResponse) => body?.['ResultCode'] !== undefined && body['ResultCode'] !== '4999';
  const { body } = await until(() => client.query(checkoutRequestId), isEnded);
  assert.ok(body !== null);
  return body;
}

/** The parameters of a result as pairs, because keys come twice. */
export function parametersOf(result: Record<string, unknown>): [string, unknown][] {
  const { ResultParameters: parameters } = result as {
    ResultParameters?: { ResultParameter: { Key: string; Value?: unknown }[] };
  };
  return (parameters?.ResultParameter ?? []).map(({ Key, Value }) => [Key, Value]);
}

export function errorOf({ status, body }: WireResponse): unknown[] {
  return [status, body?.['errorCode'], body?.['errorMessage']];
}

/** Each wrong value of a field must be refused by the field's name. */
export async function refusedFields(
  send: (fields: Fields) => Promise<WireResponse>,
  wrong: readonly (readonly [string, unknown])[],
): Promise<void> {
  for (const [field, value] of wrong) {
    const expected = [400, '400.002.02', `Bad Request - Invalid ${field}`];
    assert.deepEqual(errorOf(await send({ [field]: value })), expected, `${field}: ${String(value)}`);
  }
}

/** What comes to addresses of its own. */
export function darajaResults(client: DarajaClient, receiver: Pick<Receiver, 'url' | 'callbacks'>) {
  const untilBody = async (address: string): Promise<Record<string, unknown>> => {
    const [callback] = await until(
      () => receiver.callbacks.filter(({ path }) => path.endsWith(address)),
      hasAtLeast(1),
    );
    assert.ok(callback !== undefined);
    return callback.body;
  };
  /** What is called back of a prompt. */
  const untilPrompt = async (address: string): Promise<Record<string, unknown>> => {
    const { stkCallback } = (await untilBody(address))['Body'] as { stkCallback: Record<string, unknown> };
    return stkCallback;
  };
  const untilResult = async (address: string) => (await untilBody(address))['Result'] as Record<string, unknown>;

  return {
    /** Asks, and returns the answer that comes later. */
    answerTo: async (path: string, fields: Fields): Promise<Record<string, unknown>> => {
      const address = `/${randomUUID()}`;
      const { status, body } = await client.ask(path, { ResultURL: receiver.url + address, ...fields });
      assert.deepEqual([status, body?.['ResponseCode']], [200, '0'], JSON.stringify(body));
      const result = await untilResult(address);
      assert.equal(result['ConversationID'], body?.['ConversationID']);
      assert.equal(result['OriginatorConversationID'], body?.['OriginatorConversationID']);
      return result;
    },
    untilPrompt,
    /** Of a prompt that is paid: its receipt. */
    paidPrompt: async (fields: Fields = {}): Promise<string> => {
      const address = `/${randomUUID()}`;
      await pushed(client, '500', { CallBackURL: receiver.url + address, ...fields });
      const { CallbackMetadata: metadata } = await untilPrompt(address);
      return String(itemsOf(metadata)['MpesaReceiptNumber']);
    },
    /** A payout, and its result. */
    paidOut: async (fields: Fields = {}): Promise<{ id: string; result: Record<string, unknown> }> => {
      const id = randomUUID();
      const { body } = await client.pay({
        OriginatorConversationID: id,
        ResultURL: `${receiver.url}/${id}`,
        ...fields,
      });
      assert.equal(body?.['ResponseCode'], '0', JSON.stringify(body));
      return { id, result: await untilResult(`/${id}`) };
    },
  };
}

/** The items of a callback by their names. */
export function itemsOf(metadata: unknown): Record<string, unknown> {
  const { Item: items } = metadata as { Item: { Name: string; Value?: unknown }[] };
  return Object.fromEntries(items.map(({ Name, Value }) => [Name, Value]));
}

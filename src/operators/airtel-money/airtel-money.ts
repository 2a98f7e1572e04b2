// Airtel Money behind the operator port: signed collections and refunds, disbursements with our PIN, and their enquiries.
import { createOperatorHttpClient, withDeadline, type HttpResult } from '../http-client.ts';
import type { Operator, RefundRequest, SendOutcome, SentPayment, StatusOutcome } from '../port.ts';
import type { TokenStore } from '../token-cache.ts';
import type { AirtelUse } from './codes.ts';
import { readNameResponse } from './names.ts';
import { readRefundResponse, readRefundStatus } from './refunds.ts';
import { disbursement, pushPayment, refund, type AirtelMarket, type SignedRequest } from './requests.ts';
import { openAirtelSession, type AirtelCredentials } from './session.ts';
import { isSignatureRefused, readSendResponse, readStatusResponse } from './statuses.ts';
import { operatorReferenceIn, transactionIdOf } from './transaction-id.ts';

export type AirtelMoneyConfig = {
  /** For example `https://openapi.airtel.africa`, or the sandbox operator's address for test keys. */
  readonly baseUrl: string;
  readonly credentials: AirtelCredentials;
  /** The four digits of our wallet's PIN; payouts are paid from this wallet. */
  readonly pin: string;
  readonly market: AirtelMarket;
  /** Limit for a whole call, including its token and key requests and its one repetition. */
  readonly requestTimeoutMs: number;
  readonly connections: number;
  /** The store in which all processes keep the access token. */
  readonly tokens: TokenStore;
};

const ENQUIRIES: Readonly<Record<AirtelUse, string>> = {
  collection: '/standard/v1/payments',
  payout: '/standard/v1/disbursements',
  // The enquiry of the collection.
  refund: '/standard/v1/payments',
};

const OTHER_MARKET: SendOutcome = { kind: 'unknown', reason: 'not sent: of another market', cause: 'account' };
const NO_RECEIPT: SendOutcome = {
  kind: 'unknown',
  reason: 'not sent: no receipt of the collection',
  isUnprocessed: true,
};

/**
 * Airtel keeps one payment per transaction id, so repeated sends pay nothing twice. Its refunds take no id of ours, so a refund is sent
 * once, and repeated only after its token or signature was refused. Holds connections until `close`.
 */
export function createAirtelMoney(config: AirtelMoneyConfig): Operator {
  const { baseUrl, connections, credentials, market, pin, requestTimeoutMs: timeoutMs } = config;
  const http = createOperatorHttpClient({ baseUrl, connections, timeoutMs });
  const session = openAirtelSession({ http, credentials, market, timeoutMs, tokens: config.tokens });

  function call(make: (signal: AbortSignal) => Promise<HttpResult>): Promise<HttpResult> {
    const late = { kind: 'no_response', reason: `timed out after ${timeoutMs} ms`, cause: 'no_answer' } as const;
    return withDeadline<HttpResult>(timeoutMs, make, () => late);
  }

  /** A result without a response says whether a byte of the request may have left. */
  async function callSigned(request: SignedRequest, use: AirtelUse): Promise<HttpResult> {
    const progress = { isSent: false };
    const handling = {
      isRefused: (result: HttpResult) => isSignatureRefused(result, use),
      onSend: () => {
        progress.isSent = true;
      },
    };
    const result = await call((signal) => session.callSigned(request, handling, signal));
    return result.kind === 'no_response' && !progress.isSent ? { ...result, isUnprocessed: true } : result;
  }

  async function send(request: SignedRequest | null, use: 'collection' | 'payout'): Promise<SendOutcome> {
    return request === null ? OTHER_MARKET : readSendResponse(await callSigned(request, use), use);
  }

  async function sendRefund(request: RefundRequest): Promise<SendOutcome> {
    const { originalReceipt: receipt } = request;
    const signed = refund(request);
    if (signed === null || receipt === null) return NO_RECEIPT;
    return readRefundResponse(await callSigned(signed, 'refund'), receipt);
  }

  function enquire(operatorReference: string, use: AirtelUse): Promise<HttpResult> {
    const path = `${ENQUIRIES[use]}/${transactionIdOf(operatorReference)}`;
    return call((signal) => session.call({ method: 'GET', path, headers: {} }, signal));
  }

  async function queryStatus({ operatorReference }: SentPayment, use: AirtelUse): Promise<StatusOutcome> {
    return readStatusResponse(await enquire(operatorReference, use), operatorReference, use);
  }

  return {
    id: 'airtel-money',
    raisePrompt: (request) => send(pushPayment(request, market), 'collection'),
    getCollectionStatus: (payment) => queryStatus(payment, 'collection'),
    sendPayout: (request) => send(disbursement(request, market, pin), 'payout'),
    getPayoutStatus: (payment) => queryStatus(payment, 'payout'),
    refundCollection: sendRefund,
    getRefundStatus: async ({ originalOperatorReference: collection }) =>
      readRefundStatus(await enquire(collection, 'refund'), collection),
    async getPayeeName(phone) {
      if (!phone.startsWith(market.callingCode)) return { kind: 'unknown', reason: 'not asked: of another market' };
      const path = `/standard/v1/users/${phone.slice(market.callingCode.length)}`;
      return readNameResponse(await call((signal) => session.call({ method: 'GET', path, headers: {} }, signal)));
    },
    parseCallback: parseAirtelCallback,
    readMessage: null,
    close: () => http.close(),
  };
}

/** The reference in a callback of Airtel, or null if it has none. Its hash is not verified: a callback is only a hint. */
export function parseAirtelCallback(body: unknown): { operatorReference: string } | null {
  if (typeof body !== 'object' || body === null || !('transaction' in body)) return null;
  const { transaction } = body;
  if (typeof transaction !== 'object' || transaction === null || !('id' in transaction)) return null;
  const operatorReference = operatorReferenceIn(transaction.id);
  return operatorReference === null ? null : { operatorReference };
}

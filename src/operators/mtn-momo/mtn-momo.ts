// MTN MoMo Open API behind the operator port: request-to-pay, transfer and refund.
import { createOperatorHttpClient, withDeadline, type HttpResult, type HttpRequest } from '../http-client.ts';
import { readNameResponse } from './names.ts';
import { readSendResponse, readStatusResponse } from './statuses.ts';
import { openMtnProduct, type MtnCredentials, type MtnProduct } from './product.ts';
import { refund, requestToPay, transfer } from './requests.ts';
import type { Operator, SentPayment, StatusOutcome } from '../port.ts';
import type { TokenStore } from '../token-cache.ts';
import type { MtnUse } from './codes.ts';

export type MtnMomoConfig = {
  /** For example `https://proxy.momoapi.mtn.com`, or the sandbox operator's address for test keys. */
  readonly baseUrl: string;
  readonly targetEnvironment: string;
  /** The address for callbacks about the payment. Its host must be the one registered for both API users. */
  readonly callbackUrl: (operatorReference: string) => string;
  readonly collection: MtnCredentials;
  readonly disbursement: MtnCredentials;
  /** Limit for a whole call, including its token request and its one repetition. */
  readonly requestTimeoutMs: number;
  readonly connections: number;
  /** The tokens of each product, which all processes share. */
  readonly tokens: Readonly<Record<'collection' | 'disbursement', TokenStore>>;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** MTN keeps one payment per X-Reference-Id, so repeated sends pay nothing twice. Holds connections until `close`. */
export function createMtnMomo(config: MtnMomoConfig): Operator {
  const { baseUrl, callbackUrl, targetEnvironment, connections, requestTimeoutMs: timeoutMs } = config;
  const http = createOperatorHttpClient({ baseUrl, connections, timeoutMs });
  const opened = { http, targetEnvironment, timeoutMs };
  const collection = openMtnProduct({
    ...opened,
    product: 'collection',
    credentials: config.collection,
    tokens: config.tokens.collection,
  });
  const disbursement = openMtnProduct({
    ...opened,
    product: 'disbursement',
    credentials: config.disbursement,
    tokens: config.tokens.disbursement,
  });

  function call(product: MtnProduct, request: HttpRequest): Promise<HttpResult> {
    return withDeadline<HttpResult>(
      timeoutMs,
      (signal) => product.call(request, signal),
      () => ({ kind: 'no_response', reason: `timed out after ${timeoutMs} ms`, cause: 'no_answer' }),
    );
  }

  async function queryStatus(
    product: MtnProduct,
    path: string,
    { operatorReference: reference }: SentPayment,
    use: MtnUse,
  ): Promise<StatusOutcome> {
    const request: HttpRequest = { method: 'GET', path: `${path}/${encodeURIComponent(reference)}`, headers: {} };
    return readStatusResponse(await call(product, request), reference, use);
  }

  return {
    id: 'mtn-momo',
    async raisePrompt(request) {
      return readSendResponse(await call(collection, requestToPay(request, callbackUrl)), 'collection');
    },
    getCollectionStatus: (payment) => queryStatus(collection, '/requesttopay', payment, 'collection'),
    async sendPayout(request) {
      return readSendResponse(await call(disbursement, transfer(request, callbackUrl)), 'payout');
    },
    getPayoutStatus: (payment) => queryStatus(disbursement, '/transfer', payment, 'payout'),
    // MTN's refunds belong to the disbursement product and use its credentials.
    async refundCollection(request) {
      return readSendResponse(await call(disbursement, refund(request, callbackUrl)), 'refund');
    },
    getRefundStatus: (payment) => queryStatus(disbursement, '/refund', payment, 'refund'),
    async getPayeeName(phone) {
      const path = `/accountholder/msisdn/${encodeURIComponent(phone)}/basicuserinfo`;
      return readNameResponse(await call(disbursement, { method: 'GET', path, headers: {} }));
    },
    parseCallback: parseMtnCallback,
    readMessage: null,
    close: () => http.close(),
  };
}

/** The reference in a callback of MTN, or null if it has none. */
export function parseMtnCallback(body: unknown): { operatorReference: string } | null {
  if (typeof body !== 'object' || body === null) return null;
  const named = [
    'externalId' in body ? body.externalId : undefined,
    // Some MTN markets add the reference to the callback.
    'referenceId' in body ? body.referenceId : undefined,
  ];
  for (const value of named) {
    if (typeof value === 'string' && UUID.test(value)) return { operatorReference: value.toLowerCase() };
  }
  return null;
}

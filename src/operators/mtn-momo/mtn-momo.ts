// MTN MoMo Open API behind the operator port: request-to-pay, transfer and refund.
import { createOperatorHttpClient, withDeadline, type HttpAnswer, type HttpRequest } from '../http-client.ts';
import { readSendAnswer, readStatusAnswer } from './statuses.ts';
import { openMtnProduct, type MtnCredentials, type MtnProduct } from './product.ts';
import { refund, requestToPay, transfer } from './requests.ts';
import type { Operator } from '../port.ts';

export type MtnMomoConfig = {
  /** For example `https://proxy.momoapi.mtn.com`; the sandbox operator's address for test keys. */
  readonly baseUrl: string;
  /** For example `mtnuganda`. */
  readonly targetEnvironment: string;
  /** Its host must be the one registered for both API users. */
  readonly callbackUrl: string;
  readonly collection: MtnCredentials;
  readonly disbursement: MtnCredentials;
  /** The end of a whole call, its token and its one repetition included. */
  readonly requestTimeoutMs: number;
  /** The most connections that are open to the operator at once. */
  readonly connections: number;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * MTN keeps one payment per X-Reference-Id for ever, so a repeated send raises no second prompt and pays nothing twice.
 * Holds connections: close it.
 */
export function createMtnMomo(config: MtnMomoConfig): Operator {
  const { baseUrl, callbackUrl, targetEnvironment, connections, requestTimeoutMs: timeoutMs } = config;
  const http = createOperatorHttpClient({ baseUrl, connections, timeoutMs });
  const opened = { http, targetEnvironment, timeoutMs };
  const collection = openMtnProduct({ ...opened, product: 'collection', credentials: config.collection });
  const disbursement = openMtnProduct({ ...opened, product: 'disbursement', credentials: config.disbursement });

  function call(product: MtnProduct, request: HttpRequest): Promise<HttpAnswer> {
    return withDeadline<HttpAnswer>(
      timeoutMs,
      (signal) => product.call(request, signal),
      () => ({ kind: 'no_answer', reason: `timed out after ${timeoutMs} ms` }),
    );
  }

  function get(product: MtnProduct, path: string): Promise<HttpAnswer> {
    return call(product, { method: 'GET', path, headers: {} });
  }

  return {
    id: 'mtn-momo',
    async raisePrompt(request) {
      return readSendAnswer(await call(collection, requestToPay(request, callbackUrl)), 'collection');
    },
    async getCollectionStatus(reference) {
      const answer = await get(collection, `/requesttopay/${encodeURIComponent(reference)}`);
      return readStatusAnswer(answer, reference, 'collection');
    },
    async sendPayout(request) {
      return readSendAnswer(await call(disbursement, transfer(request, callbackUrl)), 'payout');
    },
    async getPayoutStatus(reference) {
      const answer = await get(disbursement, `/transfer/${encodeURIComponent(reference)}`);
      return readStatusAnswer(answer, reference, 'payout');
    },
    // A refund is money that leaves: MTN has it among the disbursements, with their credentials.
    async refundCollection(request) {
      return readSendAnswer(await call(disbursement, refund(request, callbackUrl)), 'refund');
    },
    async getRefundStatus(reference) {
      const answer = await get(disbursement, `/refund/${encodeURIComponent(reference)}`);
      return readStatusAnswer(answer, reference, 'refund');
    },
    parseCallback,
    close: () => http.close(),
  };
}

function parseCallback(body: unknown): { operatorReference: string } | null {
  if (typeof body !== 'object' || body === null) return null;
  const named = [
    'externalId' in body ? body.externalId : undefined,
    // Some MTN markets add it to the callback.
    'referenceId' in body ? body.referenceId : undefined,
  ];
  for (const value of named) {
    if (typeof value === 'string' && UUID.test(value)) return { operatorReference: value.toLowerCase() };
  }
  return null;
}

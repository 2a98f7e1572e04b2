// Safaricom's Daraja behind the operator port: prompts of M-Pesa with their query, and payouts and refunds whose results come by callback.
import { randomUUID } from 'node:crypto';
import { createOperatorHttpClient, withDeadline, type HttpRequest } from '../http-client.ts';
import type { MayCallAgain, Operator, SendOutcome, SentPayment, StatusOutcome } from '../port.ts';
import type { TokenStore } from '../token-cache.ts';
import type { DarajaUse } from './codes.ts';
import { publicKeyOf } from './credential.ts';
import { readMessage } from './messages.ts';
import { readNameResponse } from './names.ts';
import { createPaidList } from './pull.ts';
import {
  nameLookUp,
  paymentRequest,
  reversal,
  stkPush,
  stkQuery,
  transactionStatus,
  type DarajaParty,
} from './requests.ts';
import { openDarajaSession, type DarajaCredentials } from './session.ts';
import { readAskedResponse, readPromptStatus, readSendResponse } from './statuses.ts';

export type DarajaConfig = Omit<DarajaParty, 'publicKey'> & {
  /** For example `https://api.safaricom.co.ke`, or the sandbox operator's address for test keys. */
  readonly baseUrl: string;
  readonly credentials: DarajaCredentials;
  /** M-Pesa's certificate as PEM, for whose key the initiator's password is encrypted. */
  readonly certificate: string;
  /** Limit for a whole call, including its token request and its one repetition. */
  readonly requestTimeoutMs: number;
  readonly connections: number;
  /** The store in which all processes keep the access token. */
  readonly tokens: TokenStore;
  readonly nowMs?: () => number;
};

const NOT_SENT: SendOutcome = {
  kind: 'unknown',
  reason: 'not sent: of another market, or no whole shillings',
  cause: 'account',
  isUnprocessed: true,
};
const NO_RECEIPT: SendOutcome = {
  kind: 'unknown',
  reason: 'not sent: no receipt of the collection',
  isUnprocessed: true,
};
const NEVER_SENT: StatusOutcome = { kind: 'unknown', reason: 'not asked: never sent', isUnprocessed: true };
const NOT_LISTED: StatusOutcome = { kind: 'unknown', reason: 'not listed as paid' };
const NO_ID: StatusOutcome = { kind: 'unknown', reason: 'not asked: no id of the refund', isUnprocessed: true };
const NO_QUERY_ID: StatusOutcome = {
  kind: 'unknown',
  reason: 'not asked: no address for the answer',
  isUnprocessed: true,
};

/**
 * Daraja raises a prompt for each request and guarantees nothing about a repeated payout or refund, so a send is made once: the adapter repeats only
 * a send whose token was refused. Throws if the certificate is invalid. Holds connections until `close`.
 */
export function createDaraja(config: DarajaConfig): Operator {
  const { baseUrl, connections, credentials, requestTimeoutMs: timeoutMs, nowMs = Date.now } = config;
  const party = { ...config, publicKey: publicKeyOf(config.certificate) };
  const http = createOperatorHttpClient({ baseUrl, connections, timeoutMs });
  const session = openDarajaSession({ http, credentials, timeoutMs, tokens: config.tokens });
  const paidList = createPaidList({ call: (request) => session.call(request), shortcode: party.shortcode, nowMs });

  async function send(request: HttpRequest | null, use: DarajaUse, reference: string): Promise<SendOutcome> {
    return request === null ? NOT_SENT : readSendResponse(await session.call(request), use, reference);
  }

  async function queryPrompt(issuedId: string): Promise<StatusOutcome> {
    return readPromptStatus(await session.call(stkQuery(issuedId, party, nowMs())), issuedId);
  }

  async function ask(
    { operatorReference, queryId }: SentPayment,
    conversationId: string | null,
    shortcode: string,
  ): Promise<StatusOutcome> {
    if (conversationId === null) return NO_ID;
    if (queryId === null) return NO_QUERY_ID;
    const query = transactionStatus({ conversationId, shortcode, operatorReference, queryId }, party);
    return readAskedResponse(await session.call(query));
  }

  // A payment listed with our reference is paid. If none is listed, the prompt that a message names can only prove a failure.
  async function find(
    { operatorReference, namedId, sentAt }: SentPayment,
    mayCallAgain: MayCallAgain,
  ): Promise<StatusOutcome> {
    if (sentAt === null) return NEVER_SENT;
    const listed = await paidList.find(operatorReference, sentAt, mayCallAgain);
    if (listed !== null || namedId === null || !(await mayCallAgain())) return listed ?? NOT_LISTED;
    const named = await queryPrompt(namedId);
    return named.kind === 'failed' ? named : NOT_LISTED;
  }

  // A list of many pages takes longer than a call: its requests continue, and later callers use the list.
  function findWithin(payment: SentPayment, mayCallAgain: MayCallAgain, withinMs: number): Promise<StatusOutcome> {
    return withDeadline<StatusOutcome>(
      withinMs,
      () => find(payment, mayCallAgain),
      () => ({ kind: 'unknown', reason: `timed out after ${withinMs} ms`, cause: 'no_answer' }),
    );
  }

  return {
    id: 'daraja',
    raisePrompt: (request) => send(stkPush(request, party, nowMs()), 'collection', request.operatorReference),
    getCollectionStatus: (payment, mayCallAgain) =>
      payment.issuedId === null ? findWithin(payment, mayCallAgain, timeoutMs) : queryPrompt(payment.issuedId),
    sendPayout: (request) => send(paymentRequest(request, party), 'payout', request.operatorReference),
    getPayoutStatus: (payment) => ask(payment, payment.operatorReference, party.payoutShortcode),
    async refundCollection(request) {
      if (request.originalReceipt === null) return NO_RECEIPT;
      return send(reversal(request, party), 'refund', request.operatorReference);
    },
    getRefundStatus: (refund) => ask(refund, refund.issuedId, party.shortcode),
    async getPayeeName(phone) {
      const request = nameLookUp(phone, party, { requestId: randomUUID(), nowMs: nowMs() });
      if (request === null) return { kind: 'unknown', reason: 'not asked: of another market' };
      return readNameResponse(await session.call(request));
    },
    // Daraja sends each message to an address of the payment.
    parseCallback: () => null,
    readMessage,
    close: () => http.close(),
  };
}

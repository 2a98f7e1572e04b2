// MTN MoMo Open API behind the operator port: collections by request-to-pay.
import { toDecimalString } from '../domain/money.ts';
import { createHttpDoor, withDeadline, type HttpAnswer, type HttpRequest } from './http-door.ts';
import { readSendAnswer, readStatusAnswer } from './mtn-momo-answers.ts';
import { openMtnProduct, type MtnCredentials } from './mtn-momo-product.ts';
import { cleanNote } from './payer-note.ts';
import type { Operator, PromptRequest } from './port.ts';

export type MtnMomoConfig = {
  /** For example `https://proxy.momoapi.mtn.com`; the sandbox operator's address for test keys. */
  readonly baseUrl: string;
  /** For example `mtnuganda`. */
  readonly targetEnvironment: string;
  /** Its host must be the one registered for the API user. */
  readonly callbackUrl: string;
  readonly collection: MtnCredentials;
  /** The end of a whole call, its token and its one repetition included. */
  readonly requestTimeoutMs: number;
  /** The most connections that are open to the operator at once. */
  readonly connections: number;
};

const NOTE_RULES = { maxLength: 160, fallback: 'Payment' };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * MTN keeps one payment per X-Reference-Id for ever, so a repeated send raises no second prompt. Holds connections:
 * close it.
 */
export function createMtnMomo(config: MtnMomoConfig): Operator {
  const { baseUrl, targetEnvironment, connections, requestTimeoutMs: timeoutMs } = config;
  const http = createHttpDoor({ baseUrl, connections, timeoutMs });
  const collection = openMtnProduct({
    http,
    product: 'collection',
    credentials: config.collection,
    targetEnvironment,
    timeoutMs,
  });

  function callCollection(request: HttpRequest): Promise<HttpAnswer> {
    return withDeadline<HttpAnswer>(
      timeoutMs,
      (signal) => collection.call(request, signal),
      () => ({ kind: 'no_answer', reason: `timed out after ${timeoutMs} ms` }),
    );
  }

  return {
    id: 'mtn-momo',
    async raisePrompt(request) {
      return readSendAnswer(await callCollection(requestToPay(request, config.callbackUrl)));
    },
    async getCollectionStatus(operatorReference) {
      const path = `/requesttopay/${encodeURIComponent(operatorReference)}`;
      return readStatusAnswer(await callCollection({ method: 'GET', path, headers: {} }), operatorReference);
    },
    parseCallback,
    close: () => http.close(),
  };
}

function requestToPay(request: PromptRequest, callbackUrl: string): HttpRequest {
  const note = cleanNote(request.payerMessage, NOTE_RULES);
  return {
    method: 'POST',
    path: '/requesttopay',
    headers: {
      'Content-Type': 'application/json',
      'X-Reference-Id': request.operatorReference,
      'X-Callback-Url': callbackUrl,
    },
    body: JSON.stringify({
      amount: toDecimalString(request.money),
      currency: request.money.currency,
      // MTN's callback does not carry X-Reference-Id; this field is how a callback and a status name their payment.
      externalId: request.operatorReference,
      payer: { partyIdType: 'MSISDN', partyId: request.phone },
      payerMessage: note,
      payeeNote: note,
    }),
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

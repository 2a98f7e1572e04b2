// The total mapping from Daraja's HTTP responses to the outcomes of the port.
import { z } from 'zod';
import type { Trouble } from '../../domain/payments/breaker.ts';
import { causeOfStatus, type HttpResult } from '../http-client.ts';
import type { SendOutcome, StatusOutcome } from '../port.ts';
import { meaningOf, type DarajaUse } from './codes.ts';
import { codeIn, issuedIdIn, referenceIn } from './values.ts';

type HttpResponse = Extract<HttpResult, { kind: 'response' }>;

const any = z.unknown().optional();

const answerBody = z.object({
  ResponseCode: any,
  ResultCode: any,
  CheckoutRequestID: any,
  ConversationID: any,
  OriginatorConversationID: any,
});

/** The field with the id that Daraja issues. A refund is asked about by the id of its request, which is Daraja's, too. */
const ISSUED_IDS: Readonly<Record<DarajaUse, keyof z.infer<typeof answerBody>>> = {
  collection: 'CheckoutRequestID',
  payout: 'ConversationID',
  refund: 'OriginatorConversationID',
};

const errorBody = z.object({ errorCode: z.unknown() });
/** An error body of the gateway in front of Daraja. */
const faultBody = z.object({ fault: z.object({ detail: z.object({ errorcode: z.string() }) }) });

/** Refusals of the token, by status and code. The gateway sends them before Daraja processes the request. */
const TOKEN_REFUSALS: ReadonlySet<string> = new Set([
  // Also sent if our application may not use this API.
  '404 404.001.03',
  '400 400.003.01',
  '401 401.002.01',
  '401 401.003.01',
]);
/** Too many calls: the gateway does not forward them. */
const THROTTLES: ReadonlySet<string> = new Set(['500 500.003.02', '500 500.003.03']);
/** Our application may not use this API. */
const NO_PRODUCT = 'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound';
/** A prompt is in progress, has ended or never existed, or the password is wrong. */
const PROCESSING = '500.001.1001';

/** Whether a new token may help: the response comes before any processing. */
export function isTokenRefused(response: HttpResponse): boolean {
  return TOKEN_REFUSALS.has(keyOf(response));
}

/**
 * The outcome of a send. `accepted` only if Daraja says so, and for a payout with this reference. Nothing is ever `refused`: Daraja's
 * errors name fields and services, and no error is listed as final. The code for a repeated reference also means that the service is down.
 */
export function readSendResponse(response: HttpResult, use: DarajaUse, operatorReference: string): SendOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const answer = acceptedIn(response);
  if (answer === null) return unanswered(response, 'no_answer');
  if (use === 'payout' && !isAbout(answer.OriginatorConversationID, operatorReference)) {
    return { kind: 'unknown', reason: 'answer about another payment' };
  }
  const issuedId = issuedIdIn(answer[ISSUED_IDS[use]]);
  return { kind: 'accepted', ...(issuedId !== null && { issuedId }) };
}

/** Daraja's status of the prompt with this issued id. The status has neither amount nor receipt. */
export function readPromptStatus(response: HttpResult, issuedId: string): StatusOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const answer = acceptedIn(response);
  if (answer === null) return unanswered(response, errorCodeOf(response) === PROCESSING ? null : 'no_answer');
  if (issuedIdIn(answer.CheckoutRequestID) !== issuedId) {
    return { kind: 'unknown', reason: 'status of another payment' };
  }
  const code = codeIn(answer.ResultCode);
  const meaning = code === null ? null : meaningOf(code, 'collection');
  switch (meaning?.kind) {
    case 'paid':
      return { kind: 'succeeded', receipt: null };
    case 'pending':
      return { kind: 'pending' };
    case 'failed':
      return { kind: 'failed', code: meaning.failure, operatorCode: code ?? '' };
    case 'account':
    case 'busy':
    case undefined:
      return { kind: 'unknown', reason: code === null ? 'no code' : `code ${code} is not listed` };
  }
}

/** Whether Daraja took a query that it answers later. */
export function readAskedResponse(response: HttpResult): StatusOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  return acceptedIn(response) === null ? unanswered(response, 'no_answer') : { kind: 'asked' };
}

/** The body of a response that says that Daraja took the request. */
function acceptedIn({ status, body }: HttpResponse): z.infer<typeof answerBody> | null {
  const parsed = answerBody.safeParse(body.kind === 'json' ? body.value : null);
  return status === 200 && parsed.success && codeIn(parsed.data.ResponseCode) === '0' ? parsed.data : null;
}

// The reference may be missing, but must not name another payment.
function isAbout(originatorId: unknown, operatorReference: string): boolean {
  return originatorId === undefined || referenceIn(originatorId) === operatorReference.toLowerCase();
}

type Unanswered = Extract<SendOutcome, { kind: 'unknown' }>;

/** Why this response is no answer. */
export function unanswered(response: HttpResponse, causeOf500: 'no_answer' | null): Unanswered {
  const { status } = response;
  const code = errorCodeOf(response);
  const reason = code === null ? `http ${status}` : `http ${status} ${code}`;
  const precedes = causeBeforeProcessing(response);
  if (precedes !== null) return { kind: 'unknown', reason, cause: precedes, isUnprocessed: true };
  if (status === 401 || status === 403) return { kind: 'unknown', reason, cause: 'account' };
  if (status === 500) return { kind: 'unknown', reason, ...(causeOf500 !== null && { cause: causeOf500 }) };
  // Daraja may respond 503 after it processed the request.
  return { kind: 'unknown', reason, ...causeOfStatus(status) };
}

/** Why Daraja did nothing with the request; null if Daraja may have processed it. */
function causeBeforeProcessing(response: HttpResponse): Trouble | null {
  if (response.status === 429 || THROTTLES.has(keyOf(response))) return 'busy';
  if (isTokenRefused(response)) return 'account';
  return response.status === 401 && faultOf(response) === NO_PRODUCT ? 'account' : null;
}

function keyOf(response: HttpResponse): string {
  return `${response.status} ${errorCodeOf(response) ?? ''}`;
}

function errorCodeOf({ body }: HttpResponse): string | null {
  const parsed = errorBody.safeParse(body.kind === 'json' ? body.value : null);
  return parsed.success ? codeIn(parsed.data.errorCode) : null;
}

function faultOf({ body }: HttpResponse): string | null {
  const parsed = faultBody.safeParse(body.kind === 'json' ? body.value : null);
  return parsed.success ? parsed.data.fault.detail.errorcode : null;
}

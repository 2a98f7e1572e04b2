// The total mapping from Airtel's HTTP responses to the outcomes of the port.
import { z } from 'zod';
import type { Trouble } from '../../domain/payments/breaker.ts';
import { causeOfStatus, type HttpResult } from '../http-client.ts';
import type { Paid, Reported, SendOutcome, StatusOutcome } from '../port.ts';
import { meaningOf, type AirtelUse, type CodeMeaning } from './codes.ts';
import { operatorReferenceIn } from './transaction-id.ts';

export type HttpResponse = Extract<HttpResult, { kind: 'response' }>;

const codeText = z.string().regex(/^[A-Z0-9]{1,32}$/);

/** The part of every response that gives the result of the request, whatever its HTTP status. */
const envelope = z.object({
  status: z.object({
    success: z.boolean(),
    response_code: z.unknown().optional(),
    result_code: z.unknown().optional(),
  }),
});

const enquired = z.object({
  data: z.object({
    transaction: z.object({
      id: z.unknown().optional(),
      status: z.unknown().optional(),
      airtel_money_id: z.unknown().optional(),
      amount: z.unknown().optional(),
      currency: z.unknown().optional(),
    }),
  }),
});

type Transaction = z.infer<typeof enquired>['data']['transaction'];

const text = z.union([z.string(), z.int().transform(String)]);
const numeral = z.union([z.string(), z.number().transform(String)]).pipe(z.string().regex(/^\d{1,16}(\.\d{1,6})?$/));
const paidBody = z.object({ amount: numeral, currency: z.string().regex(/^[A-Z]{3}$/) });

export type Verdict = {
  readonly isSuccess: boolean;
  /** The code that decides: `response_code`, or `result_code` if there is no `response_code`. */
  readonly code: string | null;
  readonly responseCode: string | null;
  readonly meaning: CodeMeaning | null;
};

/** Null if the response does not come from Airtel's API. A malformed code counts as a code that is not listed. */
export function verdictOf(response: HttpResponse, use: AirtelUse): Verdict | null {
  const parsed = envelope.safeParse(response.body.kind === 'json' ? response.body.value : null);
  if (!parsed.success) return null;
  const { success, response_code: first, result_code: second } = parsed.data.status;
  const [responseCode, resultCode] = [readCode(first), readCode(second)];
  const decides = responseCode ?? resultCode;
  return {
    isSuccess: success,
    code: decides,
    responseCode,
    meaning: decides === null ? null : meaningOf(decides, use),
  };
}

function readCode(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  const read = codeText.safeParse(value);
  return read.success ? read.data : 'UNREADABLE';
}

/** Whether Airtel says that it could not read the signed request, and so did nothing: a new key may help. */
export function isSignatureRefused(response: HttpResult, use: AirtelUse): boolean {
  if (response.kind === 'no_response') return false;
  const verdict = verdictOf(response, use);
  return verdict?.isSuccess === false && verdict.meaning?.kind === 'signature';
}

/**
 * The outcome of a send. `accepted` only if a listed code of Airtel says that it took the payment or already had its id;
 * `refused` only for a listed refusal of this payment. In all other cases Airtel may or may not have the payment.
 */
export function readSendResponse(response: HttpResult, use: AirtelUse): SendOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const verdict = verdictOf(response, use);
  const unknown = unanswered(response, verdict);
  // These statuses refuse our token or our rights: no payment would be accepted.
  if (response.status === 401 || response.status === 403) return { ...unknown, cause: 'account' };
  const isAnswer = response.status === 200 || (response.status >= 400 && response.status < 500);
  if (!isAnswer || verdict === null) return unknown;
  const { isSuccess, meaning } = verdict;
  switch (meaning?.kind) {
    case 'taken':
      return isSuccess && response.status === 200 ? { kind: 'accepted' } : unknown;
    case 'exists':
      return { kind: 'accepted', isRepeated: true };
    case 'payment':
      return isSuccess
        ? unknown
        : { kind: 'refused', code: meaning.failure, operatorCode: verdict.code ?? '', ...causeOf(meaning) };
    case 'account':
    case 'signature':
      return isSuccess ? unknown : { ...unknown, cause: 'account' };
    case 'open':
    case 'not_found':
    case undefined:
      return unknown;
  }
}

/**
 * Airtel's status of the payment with this reference; a response about another payment is `unknown`. A response that names this payment
 * proves that Airtel has it. The response may omit the amount paid.
 */
export function readStatusResponse(response: HttpResult, operatorReference: string, use: AirtelUse): StatusOutcome {
  if (response.kind === 'no_response') return { ...response, kind: 'unknown' };
  const verdict = verdictOf(response, use);
  const unknown = unanswered(response, verdict);
  if (response.status === 401 || response.status === 403) return { ...unknown, cause: 'account' };
  if (verdict?.isSuccess === false) {
    if (verdict.meaning?.kind === 'account') return { ...unknown, cause: 'account' };
    const isAnswer = [200, 400, 404].includes(response.status);
    return isAnswer && verdict.meaning?.kind === 'not_found' ? { kind: 'not_found' } : unknown;
  }
  if (response.status !== 200 || verdict === null) return unknown;
  const parsed = enquired.safeParse(response.body.kind === 'json' ? response.body.value : null);
  if (!parsed.success) return { kind: 'unknown', reason: 'status not understood' };
  const { transaction } = parsed.data.data;
  if (operatorReferenceIn(transaction.id) !== operatorReference.toLowerCase()) {
    return { kind: 'unknown', reason: 'status of another payment' };
  }
  return readStatus(transaction, verdict, operatorReference, use);
}

function readStatus(
  transaction: Transaction,
  verdict: Verdict,
  operatorReference: string,
  use: AirtelUse,
): StatusOutcome {
  const reported = readReported(transaction);
  const receipt = readReceipt(transaction);
  switch (transaction.status) {
    // TA: Airtel itself does not know the outcome.
    case 'TIP':
    case 'TI':
    case 'TA':
      return { kind: 'pending', ...reported };
    case 'TS':
      // A payment without a receipt is still paid. Our own id replaces the receipt: Airtel's support can find the payment by our id.
      return { kind: 'succeeded', receipt: receipt ?? operatorReference, ...paidIn(reported) };
    case 'TF':
      return readFailed(verdict, reported);
    case 'TE':
      return {
        kind: 'failed',
        code: use === 'collection' ? 'prompt_expired' : 'operator_rejected',
        operatorCode: 'TE',
        ...reported,
      };
    case 'TR':
      return { kind: 'returned', receipt, ...paidIn(reported) };
    default:
      return { kind: 'unreadable', reason: 'status word not known' };
  }
}

// The status word decides that the payment failed; the code says why. A code that is not listed, or means no failure, contradicts the word.
function readFailed({ responseCode, meaning }: Verdict, reported: Reported): StatusOutcome {
  if (responseCode === null) return { kind: 'failed', code: 'operator_rejected', operatorCode: 'TF', ...reported };
  if (meaning?.kind === 'payment') {
    return { kind: 'failed', code: meaning.failure, operatorCode: responseCode, ...causeOf(meaning), ...reported };
  }
  if (meaning?.kind === 'account') {
    return { kind: 'failed', code: 'operator_unavailable', operatorCode: responseCode, ...reported };
  }
  return { kind: 'unreadable', reason: 'failed, for a reason that is not listed' };
}

function causeOf({ isFloatLow }: Extract<CodeMeaning, { kind: 'payment' }>): { readonly isFloatLow?: true } {
  return isFloatLow === true ? { isFloatLow } : {};
}

function readReported(transaction: Transaction): Reported {
  const money = paidBody.safeParse(transaction);
  return money.success ? { money: money.data } : {};
}

function paidIn({ money }: Reported): { readonly paid?: Paid } {
  return money === undefined ? {} : { paid: money };
}

function readReceipt({ airtel_money_id: id }: Transaction): string | null {
  const receipt = text.safeParse(id);
  return receipt.success && /^[\w.-]{1,64}$/.test(receipt.data) ? receipt.data : null;
}

type Unanswered = { readonly kind: 'unknown'; readonly reason: string; readonly cause?: Trouble };

// Airtel responds 500 in an outage, and may have processed the request before.
export function unanswered({ status }: HttpResponse, verdict: Verdict | null): Unanswered {
  const code = verdict?.code ?? null;
  const reason = code === null ? `http ${status}` : `http ${status} ${code}`;
  return { kind: 'unknown', reason, ...(status === 500 ? { cause: 'no_answer' } : causeOfStatus(status)) };
}

// MTN's error codes: what each means in our words, and whether it proves that a request was never taken.
import type { FailureCode } from '../../domain/payments/failure.ts';

/** A final reason as it is stored: our code, and the operator's own for support to quote. */
type NormalisedReason = { readonly code: FailureCode; readonly operatorCode: string };

/** What was asked of MTN. A code can mean another thing when it is our money that moves. */
export type MtnUse = 'collection' | 'payout' | 'refund';

type CodeMeaning = {
  readonly failure: FailureCode;
  /** The same of a payout or a refund: nobody is prompted there, and the one who pays is us. */
  readonly failureOfMoneyOut: FailureCode;
  /** As the answer to a send: true when the operator looked at the request and said no to it. */
  readonly refusesSend: boolean;
};

/**
 * MTN documents no code for money that it gave back after it was paid. Assumed, and what the sandbox operator says: the
 * payment turns to FAILED with this reason and keeps its financialTransactionId, which is what proves it was paid.
 */
export const RETURNED_CODE = 'TRANSACTION_REVERSED';

const MEANINGS: ReadonlyMap<string, CodeMeaning> = new Map([
  // On the way out it is our float that is too low, and neither the merchant's balance nor anybody's wallet: it passes,
  // and the merchant can do nothing but try later.
  ['NOT_ENOUGH_FUNDS', refuses('insufficient_funds', 'operator_unavailable')],
  ['PAYER_LIMIT_REACHED', refuses('payer_limit_reached')],
  ['PAYER_NOT_FOUND', refuses('payer_not_found')],
  ['PAYEE_NOT_FOUND', refuses('payer_not_found')],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', refuses('operator_rejected')],
  ['NOT_ALLOWED', refuses('operator_rejected')],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', refuses('operator_rejected')],
  ['INVALID_CALLBACK_URL_HOST', refuses('operator_rejected')],
  ['INVALID_CURRENCY', refuses('operator_rejected')],
  ['APPROVAL_REJECTED', ends('payer_cancelled', 'operator_rejected')],
  ['PAYMENT_NOT_APPROVED', ends('payer_cancelled', 'operator_rejected')],
  ['TRANSACTION_CANCELED', ends('payer_cancelled', 'operator_rejected')],
  ['TRANSACTION_CANCELLED', ends('payer_cancelled', 'operator_rejected')],
  ['EXPIRED', ends('prompt_expired', 'operator_rejected')],
  ['COULD_NOT_PERFORM_TRANSACTION', ends('prompt_expired', 'operator_rejected')],
  ['PAYER_DELAYED', ends('prompt_expired', 'operator_rejected')],
  // MTN has no code for a wrong PIN; the sandbox operator says it so that test keys can meet this failure.
  ['WRONG_PIN', ends('wrong_pin', 'operator_rejected')],
  ['SERVICE_UNAVAILABLE', ends('operator_unavailable')],
  ['INTERNAL_PROCESSING_ERROR', ends('operator_rejected')],
  ['RESOURCE_NOT_FOUND', ends('operator_rejected')],
  ['RESOURCE_ALREADY_EXIST', ends('operator_rejected')],
  [RETURNED_CODE, ends('operator_rejected')],
]);

/** A code has this shape; anything else is free text, which may name a person. */
const CODE_SHAPE = /^[A-Z][A-Z0-9_]{0,63}$/;
const LONG_NUMBER = /\d{5}/;
const SAYS_NO_FUNDS = /fund|balance/i;

/**
 * The reason of a payment that is final, from MTN's `reason`: an object `{code, message}`, a plain string, or nothing.
 * Total: whatever comes in, a code of ours comes out, and no free text of the operator's gets through.
 */
export function normaliseReason(reason: unknown, use: MtnUse): NormalisedReason {
  const { code, message } = readReason(reason);
  const operatorCode = code ?? 'UNSPECIFIED';
  // MTN's documents say that this general code mostly means an empty wallet; we say so only where the message does.
  const isNoFunds = code === 'INTERNAL_PROCESSING_ERROR' && SAYS_NO_FUNDS.test(message);
  const meaning = MEANINGS.get(isNoFunds ? 'NOT_ENOUGH_FUNDS' : operatorCode);
  const failure = use === 'collection' ? meaning?.failure : meaning?.failureOfMoneyOut;
  return { code: failure ?? 'operator_rejected', operatorCode };
}

/** The operator's code in an error body, or null when it names none. */
export function readErrorCode(body: unknown): string | null {
  return readReason(body).code;
}

/** Whether a send answered with this code was refused for certain; null for a code that we do not know. */
export function refusesSend(code: string, use: MtnUse): boolean | null {
  // Only a refund names another resource: the collection that is to be refunded.
  if (use === 'refund' && code === 'RESOURCE_NOT_FOUND') return true;
  return MEANINGS.get(code)?.refusesSend ?? null;
}

function readReason(reason: unknown): { code: string | null; message: string } {
  if (typeof reason === 'string') return { code: toCode(reason), message: reason };
  if (typeof reason !== 'object' || reason === null) return { code: null, message: '' };
  const code = 'code' in reason && typeof reason.code === 'string' ? toCode(reason.code) : null;
  const message = 'message' in reason && typeof reason.message === 'string' ? reason.message : '';
  return { code, message };
}

// "Approval rejected" and "APPROVAL-REJECTED" are the known code; an unknown one must look like a code to be kept.
function toCode(text: string): string | null {
  const known = text
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
  if (MEANINGS.has(known)) return known;
  return CODE_SHAPE.test(text) && !LONG_NUMBER.test(text) ? text : null;
}

function refuses(failure: FailureCode, failureOfMoneyOut = failure): CodeMeaning {
  return { failure, failureOfMoneyOut, refusesSend: true };
}

function ends(failure: FailureCode, failureOfMoneyOut = failure): CodeMeaning {
  return { failure, failureOfMoneyOut, refusesSend: false };
}

// MTN's error codes: what each means in our words, and whether it proves that a request was never taken.
import type { FailureCode } from '../domain/failure.ts';

/** A final reason as it is stored: our code, and the operator's own for support to quote. */
type NormalisedReason = { readonly code: FailureCode; readonly operatorCode: string };

type CodeMeaning = {
  readonly failure: FailureCode;
  /** As the answer to a send: true when the operator looked at the request and said no to it. */
  readonly refusesSend: boolean;
};

const MEANINGS: ReadonlyMap<string, CodeMeaning> = new Map([
  ['NOT_ENOUGH_FUNDS', refuses('insufficient_funds')],
  ['PAYER_LIMIT_REACHED', refuses('payer_limit_reached')],
  ['PAYER_NOT_FOUND', refuses('payer_not_found')],
  ['PAYEE_NOT_FOUND', refuses('payer_not_found')],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', refuses('operator_rejected')],
  ['NOT_ALLOWED', refuses('operator_rejected')],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', refuses('operator_rejected')],
  ['INVALID_CALLBACK_URL_HOST', refuses('operator_rejected')],
  ['INVALID_CURRENCY', refuses('operator_rejected')],
  ['APPROVAL_REJECTED', ends('payer_cancelled')],
  ['PAYMENT_NOT_APPROVED', ends('payer_cancelled')],
  ['TRANSACTION_CANCELED', ends('payer_cancelled')],
  ['TRANSACTION_CANCELLED', ends('payer_cancelled')],
  ['EXPIRED', ends('prompt_expired')],
  ['COULD_NOT_PERFORM_TRANSACTION', ends('prompt_expired')],
  ['PAYER_DELAYED', ends('prompt_expired')],
  // MTN has no code for a wrong PIN; the sandbox operator says it so that test keys can meet this failure.
  ['WRONG_PIN', ends('wrong_pin')],
  ['SERVICE_UNAVAILABLE', ends('operator_unavailable')],
  ['INTERNAL_PROCESSING_ERROR', ends('operator_rejected')],
  ['RESOURCE_NOT_FOUND', ends('operator_rejected')],
  ['RESOURCE_ALREADY_EXIST', ends('operator_rejected')],
]);

/** A code has this shape; anything else is free text, which may name a person. */
const CODE_SHAPE = /^[A-Z][A-Z0-9_]{0,63}$/;
const LONG_NUMBER = /\d{5}/;
const SAYS_NO_FUNDS = /fund|balance/i;

/**
 * The reason of a payment that is final, from MTN's `reason`: an object `{code, message}`, a plain string, or nothing.
 * Total: whatever comes in, a code of ours comes out, and no free text of the operator's gets through.
 */
export function normaliseReason(reason: unknown): NormalisedReason {
  const { code, message } = readReason(reason);
  const operatorCode = code ?? 'UNSPECIFIED';
  // MTN's documents say that this general code mostly means an empty wallet; we say so only where the message does.
  if (code === 'INTERNAL_PROCESSING_ERROR' && SAYS_NO_FUNDS.test(message))
    return { code: 'insufficient_funds', operatorCode };
  return { code: MEANINGS.get(operatorCode)?.failure ?? 'operator_rejected', operatorCode };
}

/** The operator's code in an error body, or null when it names none. */
export function readErrorCode(body: unknown): string | null {
  return readReason(body).code;
}

/** Whether a send answered with this code was refused for certain; null for a code that we do not know. */
export function refusesSend(code: string): boolean | null {
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

function refuses(failure: FailureCode): CodeMeaning {
  return { failure, refusesSend: true };
}

function ends(failure: FailureCode): CodeMeaning {
  return { failure, refusesSend: false };
}

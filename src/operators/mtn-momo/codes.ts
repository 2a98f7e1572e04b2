// MTN's error codes: our failure code for each, and what it proves. A code that is not listed proves nothing.
import type { FailureCode } from '../../domain/payments/failure.ts';

/** The reason of a failure as it is stored: our code, and the operator's own code for support. */
type NormalisedReason = {
  readonly code: FailureCode;
  readonly operatorCode: string;
  /** A payout or refund is refused for our float alone. */
  readonly isFloatLow?: true;
};

/** The kind of request. Some codes mean something else when our own money moves. */
export type MtnUse = 'collection' | 'payout' | 'refund';

type CodeMeaning = {
  /** The failure code of a payment that FAILED for this reason. */
  readonly failure: FailureCode;
  /** The failure code of a payout or refund: there is no prompt, and we are the payer. */
  readonly failureOfMoneyOut: FailureCode;
  /**
   * The meaning in the response to a send. `payment`: MTN has definitely refused this payment. `account`: MTN refuses our own account,
   * whatever the payment, and takes the payment later. `none`: the code proves nothing.
   */
  readonly refuses: 'payment' | 'account' | 'none';
};

/**
 * MTN documents no code for money that it returned after the payment. We assume, and the sandbox operator does this:
 * the payment becomes FAILED with this reason and keeps its financialTransactionId, which proves that it was paid.
 */
export const RETURNED_CODE = 'TRANSACTION_REVERSED';

const NO_FUNDS = 'NOT_ENOUGH_FUNDS';

const MEANINGS: ReadonlyMap<string, CodeMeaning> = new Map([
  // For payouts and refunds our float is too low, not the merchant's balance or a wallet.
  [NO_FUNDS, refusal('insufficient_funds', 'operator_unavailable')],
  ['PAYER_LIMIT_REACHED', refusal('payer_limit_reached')],
  ['PAYER_NOT_FOUND', refusal('payer_not_found')],
  ['PAYEE_NOT_FOUND', refusal('payer_not_found')],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', refusal('operator_rejected')],
  ['NOT_ALLOWED', account()],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', account()],
  ['INVALID_CALLBACK_URL_HOST', account()],
  ['INVALID_CURRENCY', account()],
  ['APPROVAL_REJECTED', statusReason('payer_cancelled', 'operator_rejected')],
  ['PAYMENT_NOT_APPROVED', statusReason('payer_cancelled', 'operator_rejected')],
  ['TRANSACTION_CANCELED', statusReason('payer_cancelled', 'operator_rejected')],
  ['TRANSACTION_CANCELLED', statusReason('payer_cancelled', 'operator_rejected')],
  ['EXPIRED', statusReason('prompt_expired', 'operator_rejected')],
  ['COULD_NOT_PERFORM_TRANSACTION', statusReason('prompt_expired', 'operator_rejected')],
  ['PAYER_DELAYED', statusReason('prompt_expired', 'operator_rejected')],
  // MTN has no code for a wrong PIN. The sandbox operator sends this code, so that merchants can test the failure.
  ['WRONG_PIN', statusReason('wrong_pin', 'operator_rejected')],
  ['INTERNAL_PROCESSING_ERROR', statusReason('operator_rejected')],
  ['RESOURCE_NOT_FOUND', statusReason('operator_rejected')],
  ['RESOURCE_ALREADY_EXIST', statusReason('operator_rejected')],
  [RETURNED_CODE, statusReason('operator_rejected')],
]);

/** The format of a code. Anything else is free text, which may name a person. */
const CODE_SHAPE = /^[A-Z][A-Z0-9_]{0,63}$/;
const LONG_NUMBER = /\d{5}/;
const MENTIONS_FUNDS = /fund|balance/i;

/** Our failure code for MTN's `reason`, object or string; null if the reason is not listed. No free text is returned. */
export function normaliseReason(reason: unknown, use: MtnUse): NormalisedReason | null {
  const { code: operatorCode, message } = readReason(reason);
  if (operatorCode === null) return null;
  // MTN documents that this general code mostly means an empty wallet. We use this meaning only if the message mentions funds.
  const isNoFunds = operatorCode === 'INTERNAL_PROCESSING_ERROR' && MENTIONS_FUNDS.test(message);
  const meant = isNoFunds ? NO_FUNDS : operatorCode;
  const meaning = MEANINGS.get(meant);
  if (meaning === undefined) return null;
  const code = use === 'collection' ? meaning.failure : meaning.failureOfMoneyOut;
  return { code, operatorCode, ...(use !== 'collection' && meant === NO_FUNDS && { isFloatLow: true }) };
}

/** The operator's code in an error body, or null if there is none. */
export function readErrorCode(body: unknown): string | null {
  return readReason(body).code;
}

/** Which of payment and account the response to a send refuses by this code. */
export function refusedBy(code: string, use: MtnUse): CodeMeaning['refuses'] {
  // Only a refund refers to another resource: the collection.
  if (use === 'refund' && code === 'RESOURCE_NOT_FOUND') return 'payment';
  return MEANINGS.get(code)?.refuses ?? 'none';
}

function readReason(reason: unknown): { code: string | null; message: string } {
  if (typeof reason === 'string') return { code: toCode(reason), message: reason };
  if (typeof reason !== 'object' || reason === null) return { code: null, message: '' };
  const code = 'code' in reason && typeof reason.code === 'string' ? toCode(reason.code) : null;
  const message = 'message' in reason && typeof reason.message === 'string' ? reason.message : '';
  return { code, message };
}

// "Approval rejected" and "APPROVAL-REJECTED" become the known code. An unknown text is kept only if it looks like a
// code.
function toCode(text: string): string | null {
  const known = text
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
  if (MEANINGS.has(known)) return known;
  return CODE_SHAPE.test(text) && !LONG_NUMBER.test(text) ? text : null;
}

function refusal(failure: FailureCode, failureOfMoneyOut = failure): CodeMeaning {
  return { failure, failureOfMoneyOut, refuses: 'payment' };
}

function account(): CodeMeaning {
  return { failure: 'operator_unavailable', failureOfMoneyOut: 'operator_unavailable', refuses: 'account' };
}

function statusReason(failure: FailureCode, failureOfMoneyOut = failure): CodeMeaning {
  return { failure, failureOfMoneyOut, refuses: 'none' };
}

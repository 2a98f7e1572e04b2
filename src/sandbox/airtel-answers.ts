// The sandbox operator's answers in Airtel's format: codes, and the status of a payment.
import { behaviourOf } from './behaviours.ts';
import type { SandboxTimes } from './sandbox-config.ts';
import { giveBack, type Transaction } from './transaction.ts';

type AirtelKind = 'collection' | 'payout';

const RECEIPT_PREFIX = 'CI';
const PREFIXES: Readonly<Record<AirtelKind, string>> = { collection: 'DP00800001', payout: 'DP00900001' };

/** Airtel's code for each reason of the outcome table. */
const REASONS: Readonly<Record<AirtelKind, Readonly<Record<string, string>>>> = {
  collection: {
    APPROVAL_REJECTED: '008',
    WRONG_PIN: '002',
    EXPIRED: '029',
    NOT_ENOUGH_FUNDS: '007',
    // Airtel has no code of its own for a payer without an account.
    PAYER_NOT_FOUND: '009',
  },
  payout: {
    PAYEE_NOT_FOUND: '012',
    PAYER_LIMIT_REACHED: '003',
    NOT_ENOUGH_FUNDS: '007',
    PAYEE_NOT_ALLOWED_TO_RECEIVE: '010',
    INTERNAL_PROCESSING_ERROR: '013',
  },
};

type Code = { readonly response_code: string } | { readonly result_code: string };

const ofKind =
  (collection: string, payout: string) =>
  (kind: AirtelKind): Code => ({ response_code: PREFIXES[kind] + (kind === 'collection' ? collection : payout) });

export const IN_PROCESS = ofKind('006', '006');
const SUCCESS = ofKind('001', '001');
export const WRONG_SIGNATURE = ofKind('026', '016');
export const WRONG_OWN_PIN = ofKind('010', '010');
export const AMOUNT_REFUSED = ofKind('004', '004');
export const DUPLICATE: Code = { result_code: 'ESB000041' };
/** Airtel lists no code for what was refunded before; this one is of its general list. */
export const ALREADY_REFUNDED: Code = { result_code: 'ESB000011' };
export const NOT_FOUND: Code = { result_code: 'ESB000045' };
export const INVALID_REQUEST: Code = { result_code: 'ESB000008' };
export const WRONG_MARKET: Code = { result_code: 'ROUTER006' };
/** Refusals of the client's account: the first refuses its signature, later ones its wallet. */
export const accountRefusal = (kind: AirtelKind, requestsReceived: number): Code =>
  (requestsReceived === 1 ? WRONG_SIGNATURE : WRONG_OWN_PIN)(kind);
/** An answer without the code from which a client decides. */
export const CODELESS = { data: [], status: { code: 200, message: null, success: false, response_code: 7 } };
export const GENERAL_ERROR: Code = { result_code: 'ESB000001' };

/** An answer with the part that says whether the request succeeded. */
export function answer(code: Code, isSuccess: boolean, data: object = {}): object {
  const status = { code: '200', message: isSuccess ? 'SUCCESS' : 'FAILED', result_code: 'ESB000010', ...code };
  return { data, status: { ...status, success: isSuccess } };
}

/** The answer to a refund that is taken, as in Airtel's own example: it says at once that it succeeded, and that it did not. */
export function refundTaken(receiptId: string): object {
  return answer({ result_code: 'ESB000010' }, false, {
    transaction: { airtel_money_id: receiptId, status: 'SUCCESS' },
  });
}

/** The answer to an enquiry. It has the receipt only of a paid payment, and the amount only if another amount was paid than requested. */
export function enquiry(paid: Transaction, times: SandboxTimes, isRefunded: boolean): object {
  const transaction = isRefunded ? giveBack(paid, Date.now()) : paid;
  const kind = transaction.kind === 'collection' ? 'collection' : 'payout';
  const reason = REASONS[kind][transaction.reason?.code ?? ''];
  const code = transaction.state === 'FAILED' && reason !== undefined ? PREFIXES[kind] + reason : undefined;
  return answer(code === undefined ? SUCCESS(kind) : { response_code: code }, true, {
    transaction: {
      id: wireId(transaction),
      status: statusWord(transaction, times),
      message: transaction.reason?.message ?? '',
      ...receipt(transaction),
      ...otherMoney(transaction),
    },
  });
}

function otherMoney(transaction: Transaction): object {
  const { state, amount, currency } = transaction;
  const isOther = state === 'SUCCESSFUL' && behaviourOf(transaction).behaviour.paysOneMore === true;
  return isOther ? { amount: Number(amount), currency } : {};
}

/** The body of a callback. */
export function callbackBody(transaction: Transaction): object {
  return {
    transaction: {
      id: wireId(transaction),
      message: transaction.reason?.message ?? 'Paid',
      status_code: transaction.state === 'SUCCESSFUL' ? 'TS' : 'TF',
      ...receipt(transaction),
    },
  };
}

/** The id as the client wrote it. */
function wireId({ operatorReference }: Transaction): string {
  return operatorReference.toUpperCase();
}

function receipt({ state, financialTransactionId }: Transaction): object {
  return state === 'SUCCESSFUL' ? { airtel_money_id: RECEIPT_PREFIX + financialTransactionId } : {};
}

/** The id of the payment with this receipt; null if it is no receipt of Airtel. */
export function paidIdIn(receiptId: string): string | null {
  return receiptId.startsWith(RECEIPT_PREFIX) ? receiptId.slice(RECEIPT_PREFIX.length) : null;
}

function statusWord(transaction: Transaction, { promptExpiryMs }: SandboxTimes): string {
  const { state, reason, givenBackAtMs, dueAtMs, receivedAtMs } = transaction;
  if (givenBackAtMs !== null) return 'TR';
  switch (state) {
    case 'SUCCESSFUL':
      return 'TS';
    case 'FAILED':
      return reason?.code === 'EXPIRED' ? 'TE' : 'TF';
    case 'PENDING':
    case 'NOT_ACCEPTED':
      // A payment that only a person decides soon becomes ambiguous (TA) at Airtel, too.
      return dueAtMs === null && Date.now() > receivedAtMs + promptExpiryMs ? 'TA' : 'TIP';
  }
}

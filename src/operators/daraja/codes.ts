// Daraja's codes and what each proves. A code that is not listed proves nothing.
import type { FailureCode } from '../../domain/payments/failure.ts';

/** The kind of request. Some codes mean something else when our own money moves. */
export type DarajaUse = 'collection' | 'payout' | 'refund';

/**
 * `paid`, `failed`: final for this payment. `pending`: not decided yet. `account`: M-Pesa refuses our own account, whatever the payment.
 * `busy`: M-Pesa takes no requests now.
 */
export type CodeMeaning =
  | { readonly kind: 'paid' | 'pending' | 'account' | 'busy' }
  | { readonly kind: 'failed'; readonly failure: FailureCode; readonly isFloatLow?: true };

const PAID: CodeMeaning = { kind: 'paid' };
const PENDING: CodeMeaning = { kind: 'pending' };
const ACCOUNT: CodeMeaning = { kind: 'account' };
const BUSY: CodeMeaning = { kind: 'busy' };

const COLLECTION_CODES: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ['0', PAID],
  ['1', failed('insufficient_funds')],
  ['2', failed('payer_limit_reached')],
  ['3', failed('payer_limit_reached')],
  ['4', failed('payer_limit_reached')],
  ['8', failed('payer_limit_reached')],
  ['17', failed('payer_busy')],
  ['26', failed('operator_unavailable')],
  ['1001', failed('payer_busy')],
  ['1019', failed('prompt_expired')],
  ['1025', failed('operator_unavailable')],
  ['1032', failed('payer_cancelled')],
  ['1037', failed('payer_unreachable')],
  ['2001', failed('wrong_pin')],
  ['2028', failed('operator_rejected')],
  ['4999', PENDING],
  ['8006', failed('wrong_pin')],
  ['9999', failed('operator_unavailable')],
  ['SFC_IC0003', failed('payer_not_found')],
]);

// No payer acts on a payout: 2001 means our initiator's password, and 17 and 26 mean that M-Pesa is overloaded.
const PAYOUT_CODES: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ['0', PAID],
  ['1', { ...failed('operator_unavailable'), isFloatLow: true }],
  ['2', failed('amount_not_allowed')],
  ['3', failed('payer_limit_reached')],
  ['4', failed('payer_limit_reached')],
  ['8', failed('payer_limit_reached')],
  ['17', BUSY],
  ['21', ACCOUNT],
  ['26', BUSY],
  ['2001', ACCOUNT],
  ['2028', failed('operator_rejected')],
  ['2040', failed('payer_not_found')],
  ['SFC_IC0003', failed('payer_not_found')],
]);

// Of a reversal Daraja documents few codes. 21 refuses the initiator of a payout, and Daraja's example of a reversal that succeeded has it.
const REFUND_CODES: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ['0', PAID],
  ['1', { ...failed('operator_unavailable'), isFloatLow: true }],
  ['17', BUSY],
  ['26', BUSY],
  ['2001', ACCOUNT],
]);

const CODES: Readonly<Record<DarajaUse, ReadonlyMap<string, CodeMeaning>>> = {
  collection: COLLECTION_CODES,
  payout: PAYOUT_CODES,
  refund: REFUND_CODES,
};

/** The meaning of the result code for this kind of payment; null if the code is not listed or belongs to another kind. */
export function meaningOf(code: string, use: DarajaUse): CodeMeaning | null {
  return CODES[use].get(code) ?? null;
}

/** The words of a transaction's state in the answer to a status query, in lower case. */
const STATES: ReadonlyMap<string, 'paid' | 'pending' | 'failed' | 'returned'> = new Map([
  ['completed', 'paid'],
  ['pending', 'pending'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
  ['declined', 'failed'],
  // Daraja documents no word for returned money. We assume this word, and the sandbox operator sends it.
  ['reversed', 'returned'],
] as const);

/** Null for a word that is not listed. */
export function stateOf(word: string): 'paid' | 'pending' | 'failed' | 'returned' | null {
  return STATES.get(word.toLowerCase()) ?? null;
}

function failed(failure: FailureCode) {
  return { kind: 'failed', failure } as const;
}

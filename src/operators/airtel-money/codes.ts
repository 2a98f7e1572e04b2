// Airtel's codes and what each proves. A code that is not listed proves nothing.
import type { FailureCode } from '../../domain/payments/failure.ts';

/** The kind of request. Each kind has its own codes. */
export type AirtelUse = 'collection' | 'payout' | 'refund';

/**
 * `taken`: Airtel accepted the payment. `exists`: Airtel already had the id. `open`: not decided yet. `payment`: final for this payment.
 * `account`: Airtel refuses our own account, whatever the payment. `signature`: Airtel could not read the signed request and did nothing.
 */
export type CodeMeaning =
  | { readonly kind: 'taken' | 'exists' | 'open' | 'account' | 'not_found' | 'signature' }
  | { readonly kind: 'payment'; readonly failure: FailureCode; readonly isFloatLow?: true };

const TAKEN: CodeMeaning = { kind: 'taken' };
const EXISTS: CodeMeaning = { kind: 'exists' };
const OPEN: CodeMeaning = { kind: 'open' };
const ACCOUNT: CodeMeaning = { kind: 'account' };
const NOT_FOUND: CodeMeaning = { kind: 'not_found' };
const SIGNATURE: CodeMeaning = { kind: 'signature' };

const COLLECTION_CODES: Readonly<Record<string, CodeMeaning>> = {
  '000': OPEN,
  '001': TAKEN,
  '002': payment('wrong_pin'),
  '003': payment('payer_limit_reached'),
  '004': payment('amount_not_allowed'),
  '005': payment('prompt_expired'),
  '006': TAKEN,
  '007': payment('insufficient_funds'),
  '008': payment('payer_cancelled'),
  '009': payment('operator_rejected'),
  '010': ACCOUNT,
  '024': payment('prompt_expired'),
  '025': NOT_FOUND,
  '026': SIGNATURE,
  '029': payment('prompt_expired'),
};

const PAYOUT_CODES: Readonly<Record<string, CodeMeaning>> = {
  '000': OPEN,
  '001': TAKEN,
  '003': payment('payer_limit_reached'),
  '004': payment('amount_not_allowed'),
  '005': payment('operator_rejected'),
  '006': TAKEN,
  '007': { ...payment('operator_unavailable'), isFloatLow: true },
  '009': payment('payer_not_found'),
  '010': ACCOUNT,
  // A similar payment exists, not necessarily this one.
  '011': OPEN,
  '012': payment('payer_not_found'),
  '013': payment('operator_rejected'),
  '014': OPEN,
  '015': NOT_FOUND,
  '016': SIGNATURE,
  '017': EXISTS,
};

/** Airtel refunds by the API of collections. The other codes of collections are about the payer's prompt and PIN. */
const REFUND_CODES: Readonly<Record<string, CodeMeaning>> = {
  '000': OPEN,
  '001': TAKEN,
  '006': TAKEN,
  '010': ACCOUNT,
  '025': NOT_FOUND,
  '026': SIGNATURE,
};

const PREFIXES: Readonly<Record<AirtelUse, string>> = {
  collection: 'DP00800001',
  payout: 'DP00900001',
  refund: 'DP00800001',
};
const CODES: Readonly<Record<AirtelUse, Readonly<Record<string, CodeMeaning>>>> = {
  collection: COLLECTION_CODES,
  payout: PAYOUT_CODES,
  refund: REFUND_CODES,
};

const OPEN_RESULTS = ['ESB000001', 'ESB000004', 'ESB000008', 'ESB000014', 'ROUTER117', '0000900'];
const ACCOUNT_RESULTS = [
  ...['ROUTER001', 'ROUTER002', 'ROUTER003', 'ROUTER004', 'ROUTER005', 'ROUTER006', 'ROUTER007'],
  ...['ROUTER112', 'ROUTER113', 'ROUTER114', 'ROUTER115', 'ROUTER116', 'ROUTER119'],
  ...['ESB000033', 'ESB000034', 'ESB000035', 'ESB000036', 'ESB000037', 'ESB000038', 'ESB000039'],
];

/** The codes that all kinds share. */
const COMMON: ReadonlyMap<string, CodeMeaning> = new Map<string, CodeMeaning>([
  ...OPEN_RESULTS.map((code) => [code, OPEN] as const),
  ...ACCOUNT_RESULTS.map((code) => [code, ACCOUNT] as const),
  ['ESB000041', EXISTS],
  ['ESB000045', NOT_FOUND],
]);

/** The meaning of the code for this kind of payment; null if the code is not listed or belongs to another kind. */
export function meaningOf(code: string, use: AirtelUse): CodeMeaning | null {
  const common = COMMON.get(code);
  if (common !== undefined) return common;
  if (!code.startsWith(PREFIXES[use])) return null;
  const ending = code.slice(PREFIXES[use].length);
  return Object.hasOwn(CODES[use], ending) ? (CODES[use][ending] ?? null) : null;
}

function payment(failure: FailureCode) {
  return { kind: 'payment', failure } as const;
}

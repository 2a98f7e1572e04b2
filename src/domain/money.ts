// Amounts of money: whole numbers of a currency's smallest unit, never fractions.

/**
 * Smallest units per whole unit, as a power of ten: the one list of currencies. A test compares it with the table
 * `currencies`. `Intl` is no source: its decimals may change, and a stored amount would change its meaning.
 *
 * These are the minor units of ISO 4217 (List One), with one exception. MGA has two there, for the iraimbilanja. It is
 * a fifth of an ariary: decimals cannot express it, no operator moves it, and CLDR 48 gives MGA no decimals. Whole
 * units as an operator's amount step say nothing about the currency.
 */
const EXPONENTS = {
  UGX: 0,
  RWF: 0,
  XOF: 0,
  XAF: 0,
  KES: 2,
  GHS: 2,
  ZMW: 2,
  TZS: 2,
  NGN: 2,
  MWK: 2,
  CDF: 2,
  USD: 2,
  ETB: 2,
  MZN: 2,
  SZL: 2,
  LRD: 2,
  GNF: 0,
  MGA: 0,
  SCR: 2,
} as const;

export type Currency = keyof typeof EXPONENTS;
export type Money = { readonly amountMinor: bigint; readonly currency: Currency };

export const CURRENCIES = Object.keys(EXPONENTS) as Currency[];

/** The largest amount that a JSON number represents without loss: 9 007 199 254 740 991. */
export const MAX_AMOUNT_MINOR = BigInt(Number.MAX_SAFE_INTEGER);

export function exponentOf(currency: Currency): number {
  return EXPONENTS[currency];
}

/** The amount in whole units as a decimal string, as operators expect it: 1050 KES minor is "10.50", 500 UGX "500". */
export function toDecimalString({ amountMinor, currency }: Money): string {
  const exponent = EXPONENTS[currency];
  if (exponent === 0) return amountMinor.toString();
  const digits = amountMinor.toString().padStart(exponent + 1, '0');
  return `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

// Amounts of money: whole numbers of a currency's smallest unit, never fractions.

/** Smallest units per whole unit, as a power of ten. Not from `Intl`, whose decimals are not those of mobile money. */
const EXPONENTS = { UGX: 0, RWF: 0, XOF: 0, XAF: 0, KES: 2, GHS: 2, ZMW: 2, TZS: 2, NGN: 2 } as const;

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

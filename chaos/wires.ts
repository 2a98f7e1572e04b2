// The wires of a campaign: the phones that lead to each operator, and what it takes.
import type { Random } from './random.ts';

export type Wire = {
  readonly operator: string;
  readonly currency: 'UGX' | 'KES';
  readonly callingCode: string;
  /** National prefixes, each with 10,000 numbers before the three digits of the row. */
  readonly prefixes: readonly string[];
  /** Every amount is a multiple of it. */
  readonly amountStep: number;
};

const NUMBERS_PER_PREFIX = 10_000;
const AIRTEL_SHARE = 0.35;

export const MTN: Wire = {
  operator: 'mtn-momo',
  currency: 'UGX',
  callingCode: '256',
  prefixes: ['77', '78', '76', '79'],
  amountStep: 1,
};

export const AIRTEL: Wire = {
  ...MTN,
  operator: 'airtel-money',
  prefixes: ['75', '74', '70'],
};

export const MPESA: Wire = {
  operator: 'daraja',
  currency: 'KES',
  callingCode: '254',
  prefixes: ['71', '72', '70', '79'],
  amountStep: 100,
};

/** The currency of each merchant of a campaign: the last one is in Kenya. */
export const CURRENCIES = ['UGX', 'UGX', 'UGX', 'KES'] as const;

/** A wire that a merchant with this currency reaches. */
export function chooseWire(currency: Wire['currency'] | undefined, random: Random): Wire {
  if (currency === 'KES') return MPESA;
  return random.chance(AIRTEL_SHARE) ? AIRTEL : MTN;
}

export function phoneOf(index: number, row: string, { callingCode, prefixes }: Wire = MTN): string {
  const prefix = prefixes[Math.floor(index / NUMBERS_PER_PREFIX)];
  if (prefix === undefined) throw new Error(`there are phones for ${prefixes.length * NUMBERS_PER_PREFIX} payments`);
  return `${callingCode}${prefix}${String(index % NUMBERS_PER_PREFIX).padStart(4, '0')}${row}`;
}

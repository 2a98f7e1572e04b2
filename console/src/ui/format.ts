// Amounts, phone numbers and states as people read them. Nothing is rounded.
import { toCardinal } from 'n2words/en-US';
import { exponentOf, toDecimalString, type Currency } from '../../../src/domain/money.ts';
import { readTypedAmount, type AmountForm, type TypedAmount } from '../../../src/domain/typed-amount.ts';

/** `1250000` in UGX as `1,250,000`, in KES as `12,500.00`. */
export function formatAmount(amountMinor: number, currency: string): string {
  const [whole = '', fraction] = decimal(Math.abs(amountMinor), currency).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${amountMinor < 0 ? '−' : ''}${grouped}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** An amount from an address, in minor units, as a person types it; an invalid one is shown unchanged. */
export function formatAddressAmount(text: string, currency: string): string {
  const isAmount = /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
  return isAmount ? formatAmount(Number(text), currency) : text;
}

/** An amount that a person typed. */
export function readAmount(text: string, currency: string, form: AmountForm = {}): TypedAmount {
  return readTypedAmount(text, currency as Currency, form);
}

/** `1250000` in UGX as `one million two hundred and fifty thousand UGX`. */
export function amountInWords(amountMinor: number, currency: string): string {
  const unit = 10 ** exponentOf(currency as Currency);
  const [whole, fraction] = [Math.floor(amountMinor / unit), amountMinor % unit];
  const words = toCardinal(whole, { and: true });
  return fraction === 0 ? `${words} ${currency}` : `${words} ${currency} and ${toCardinal(fraction)} hundredths`;
}

// The service names the currency, one that it knows.
function decimal(amountMinor: number, currency: string): string {
  return toDecimalString({ amountMinor: BigInt(amountMinor), currency: currency as Currency });
}

/** In groups that a person can compare: `256 772 123 456`. */
export function formatPhone(phone: string): string {
  const groups: string[] = [];
  let rest = phone;
  while (rest.length > 4) {
    groups.unshift(rest.slice(-3));
    rest = rest.slice(0, -3);
  }
  return [rest, ...groups].join(' ');
}

/** `dead_lettered` as `dead lettered`. */
export function formatCode(code: string): string {
  return code.replaceAll('_', ' ');
}

/** `5 min`, `3 h`, `2 days`: how long ago, or ahead. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

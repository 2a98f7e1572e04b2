// Reads a phone number as payers type it: with or without the country code, with spaces, dashes, brackets and a plus.
import parsePhoneNumber, { type CountryCode } from 'libphonenumber-js/mobile';
import type { Currency } from '../money.ts';
import { countriesOf, routePhone, type Coverage } from './operator-catalogue.ts';
import { parsePhone } from './phone.ts';

const LONGEST_TEXT = 40;
const SEPARATORS = /[\s().·/-]/g;

/**
 * The number in the form that the API takes; `invalid` when the text is no mobile number of any country, or of several in which
 * one would have to guess. A number without country code is one of the countries in which the merchant's currency is paid.
 */
export function readPayerPhone(
  text: string,
  currency: Currency,
  coverage: Coverage,
): { readonly kind: 'phone'; readonly digits: string } | { readonly kind: 'invalid' } {
  if (text.length > LONGEST_TEXT) return { kind: 'invalid' };
  const typed = text.normalize('NFKC').replace(SEPARATORS, '');
  const international = typed.replace(/^(\+|00)/, '');
  if (!/^[0-9]{6,15}$/.test(international)) return { kind: 'invalid' };
  if (parsePhone(international) !== null) return { kind: 'phone', digits: international };
  if (international !== typed) return { kind: 'invalid' };
  const candidates = countriesOf(currency, coverage).flatMap((country) => inCountry(typed, country));
  // Of several countries, that in which an operator of ours serves it.
  const served = candidates.filter((digits) => isServed(digits, currency, coverage));
  const [only, another] = served.length > 0 ? served : candidates;
  return only === undefined || another !== undefined ? { kind: 'invalid' } : { kind: 'phone', digits: only };
}

function inCountry(typed: string, country: string): string[] {
  const parsed = parsePhoneNumber(typed, country as CountryCode);
  const digits = parsed?.number.slice(1) ?? '';
  return parsed?.country === country && parsePhone(digits) !== null ? [digits] : [];
}

function isServed(digits: string, currency: Currency, coverage: Coverage): boolean {
  const phone = parsePhone(digits);
  return phone !== null && routePhone(phone, currency, coverage).kind === 'operator';
}

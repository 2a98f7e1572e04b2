// Phone numbers of mobile-money accounts: digits only, country code first.
import parsePhoneNumber, { getExampleNumber, type CountryCode } from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';

export type Phone = {
  /** International digits without plus sign (E.164 less the plus). */
  readonly digits: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly nationalNumber: string;
};

export const ANY_EXAMPLE = '256772123456';
/** The required form, with an example, for error messages. */
export const PHONE_FORM = `digits only, country code first, no plus sign and no leading zero, for example ${ANY_EXAMPLE}`;

const MIN_DIGITS = 8;
const MAX_DIGITS = 15;
/** Countries whose numbers became longer, with the digits to add to a former number. */
const LENGTHENED: Readonly<Record<string, string>> = {
  BJ: 'since 2024: 01, then the former eight digits',
  CI: 'since 2021: 01, 05 or 07 by the network, then the former eight digits',
};
const FORMER_LENGTH = 8;
const COUNTRY_NAMES = new Intl.DisplayNames(['en'], { type: 'region' });

let last: { readonly text: string; readonly phone: Phone | null } = { text: '', phone: null };

/** The mobile phone that `text` names, or null if `text` is no mobile phone in the required form. A landline gives null. */
export function parsePhone(text: string): Phone | null {
  // One request reads its phone twice: to check the phone, and to route it to an operator.
  if (last.text !== text) last = { text, phone: readPhone(text) };
  return last.phone;
}

function readPhone(text: string): Phone | null {
  if (!/^[1-9][0-9]{7,14}$/.test(text)) return null;
  const parsed = parsePhoneNumber(`+${text}`);
  // isValid() of the "mobile" metadata is true for mobile numbers only.
  if (!parsed?.isValid() || parsed.country === undefined) return null;
  // The library accepts a trunk zero after the country code; an operator does not.
  if (parsed.number !== `+${text}`) return null;
  return { digits: text, country: parsed.country, nationalNumber: parsed.nationalNumber };
}

/** The exact reason why `parsePhone` refuses the text, as a sentence. */
export function describePhoneProblem(text: string): string {
  if (text === '') return 'It is empty.';
  if (text.startsWith('+')) return 'It begins with a plus sign.';
  if (/\s/.test(text)) return 'It has a space in it.';
  if (!/^[0-9]+$/.test(text)) return 'It has characters other than the digits 0 to 9.';
  if (text.startsWith('0')) return 'It begins with 0 instead of a country code.';
  if (text.length > MAX_DIGITS) return `It has ${text.length} digits; no phone number has more than ${MAX_DIGITS}.`;
  const parsed = parsePhoneNumber(`+${text}`);
  if (parsed === undefined) {
    if (text.length < MIN_DIGITS) return `It has ${text.length} digits; a number with its country code has more.`;
    return 'It does not begin with a country code.';
  }
  const { country, countryCallingCode: code } = parsed;
  // Several countries have this code, and the number belongs to none of them.
  if (country === undefined) return `It is not a mobile number of a country with the code ${code}.`;
  if (parsed.isValid() && parsed.number !== `+${text}`) return `Leave out the 0 after the country code ${code}.`;
  const given = text.length - code.length;
  if (getExampleNumber(country, examples)?.nationalNumber.length === given) {
    return `It is not a mobile number of ${countryName(country)}.`;
  }
  return `${describeLength(country)} This one has ${given}.`;
}

/** Whether a mobile number of the country, as far as libphonenumber knows them, begins with these national digits. */
export function isMobilePrefix(country: string, prefix: string): boolean {
  const example = getExampleNumber(country as CountryCode, examples);
  if (example === undefined) return false;
  const { nationalNumber, countryCallingCode } = example;
  return ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'].some(
    (digit) => parsePhone(`${countryCallingCode}${prefix.padEnd(nationalNumber.length, digit)}`)?.country === country,
  );
}

/** Whether the number has the former length of the country's numbers, which became longer. */
export function isFormerLength(country: string, nationalNumber: string): boolean {
  return LENGTHENED[country] !== undefined && nationalNumber.length === FORMER_LENGTH;
}

/** The length of the country's mobile numbers, as a sentence with an example. */
export function describeLength(country: string): string {
  const example = getExampleNumber(country as CountryCode, examples);
  if (example === undefined) return `It is not a mobile number of ${countryName(country)}.`;
  const { nationalNumber, countryCallingCode: code } = example;
  const since = LENGTHENED[country] === undefined ? '' : ` ${LENGTHENED[country]}`;
  return (
    `A mobile number of ${countryName(country)} has ${nationalNumber.length} digits after the country code ${code}${since}. ` +
    `It is like ${code}${nationalNumber}.`
  );
}

/** The error message for a request whose `phone` is this text. */
export function invalidPhone(text: string): string {
  return `phone must be a mobile number: ${PHONE_FORM}. ${describePhoneProblem(text)}`;
}

export function countryName(country: string): string {
  return COUNTRY_NAMES.of(country) ?? country;
}

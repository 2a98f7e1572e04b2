// Reads a phone number as people type and paste it: with or without the country code, with spaces, dashes, brackets and a plus.
import parsePhoneNumber, { getExampleNumber, type CountryCode } from 'libphonenumber-js/mobile';
import examples from 'libphonenumber-js/mobile/examples';
import { hasTurningMark, pastedText, TURNED } from '../visible-text.ts';
import {
  ANY_EXAMPLE,
  countryName,
  describeLength,
  describePhoneProblem,
  isFormerLength,
  parsePhone,
  type Phone,
} from './phone.ts';

export type TypedPhone =
  | { readonly kind: 'phone'; readonly phone: Phone }
  /** The text is a number in several countries. The message asks which one is meant. */
  | { readonly kind: 'ambiguous'; readonly phones: readonly Phone[]; readonly message: string }
  | {
      readonly kind: 'refused';
      /** The problem, for the person who typed the number. */
      readonly message: string;
      /** The countries in which the text may be a former, shorter number. */
      readonly formerOf: readonly string[];
    };

const LONGEST_TEXT = 40;
// Dashes of all kinds, the minus sign and the hyphen bullet among them.
const SEPARATORS = /[\s\p{Pd}\u2212\u2043().·•/[\]（）]/gu;
/** The zero that is dialled only within the country. */
const TRUNK_ZERO = /[(（]0[)）]/;

/** Reads a number without country code as one of `countries`. More than one reading is `ambiguous`, never a guess. */
export function readTypedPhone(text: string, countries: readonly string[]): TypedPhone {
  const pasted = pastedText(text);
  if (hasTurningMark(pasted)) return { kind: 'refused', message: TURNED, formerOf: [] };
  const typed = withPlainDigits(pasted).replace(/^tel:/i, '').replace('＋', '+');
  const spellings = typed.length > LONGEST_TEXT ? [] : spellingsOf(typed);
  const readings = spellings.flatMap((spelling) => readSpelling(spelling, countries));
  const phones = [...new Map(readings.map((phone) => [phone.digits, phone])).values()];
  const [phone, another] = phones;
  if (phone === undefined) return refusal(spellings[0], countries);
  return another === undefined ? { kind: 'phone', phone } : { kind: 'ambiguous', phones, message: question(phones) };
}

/** The digits with their plus sign, if any. A zero in brackets may belong to the number or not. */
function spellingsOf(typed: string): readonly string[] {
  const spellings = [typed, typed.replace(TRUNK_ZERO, '')].map((spelling) => spelling.replaceAll(SEPARATORS, ''));
  return spellings.filter((spelling) => /^\+?[0-9]{6,17}$/.test(spelling));
}

function readSpelling(spelling: string, countries: readonly string[]): readonly Phone[] {
  const international = spelling.replace(/^(\+|00)/, '');
  const isInternational = international !== spelling;
  return [
    ...(international.startsWith('0') ? [] : phoneOf(parsePhoneNumber(`+${international}`))),
    ...(isInternational
      ? []
      : countries.flatMap((country) =>
          phoneOf(parsePhoneNumber(spelling, country as CountryCode)).filter((phone) => phone.country === country),
        )),
  ];
}

/** The number as the API takes it: without a zero that, as the library knows, is dialled only within the country. */
function phoneOf(parsed: ReturnType<typeof parsePhoneNumber>): readonly Phone[] {
  const phone = parsed ? parsePhone(parsed.number.slice(1)) : null;
  return phone === null ? [] : [phone];
}

function question(phones: readonly Phone[]): string {
  const meanings = phones.map(({ digits, country }) => `${digits} (${countryName(country)})`);
  return `Is it ${meanings.join(' or ')}? Write it with its country code.`;
}

/** A mobile number of the first of these countries, as the API takes it; of any country if none is known. */
export function exampleDigits([country]: readonly string[]): string {
  const example = country === undefined ? undefined : getExampleNumber(country as CountryCode, examples);
  return example?.number.slice(1) ?? ANY_EXAMPLE;
}

function refusal(spelling: string | undefined, countries: readonly string[]): TypedPhone & { kind: 'refused' } {
  const withCode = `Write it with its country code, such as ${exampleDigits(countries)}.`;
  if (spelling === undefined)
    return { kind: 'refused', message: `This is not a phone number. ${withCode}`, formerOf: [] };
  const international = spelling.replace(/^(\+|00)/, '');
  const { country = '', nationalNumber = '' } = parsePhoneNumber(`+${international}`) ?? {};
  const isFormer = isFormerLength(country, nationalNumber);
  if (international !== spelling || isFormer || countries.includes(country)) {
    return { kind: 'refused', message: describePhoneProblem(international), formerOf: isFormer ? [country] : [] };
  }
  const of = countries.length === 0 ? '' : ` of ${countries.map(countryName).join(' or ')}`;
  const formerOf = countries.filter((each) => isFormerLength(each, spelling));
  const lengths = formerOf.map((each) => `${describeLength(each)} `);
  return { kind: 'refused', message: `This is not a mobile number${of}. ${lengths.join('')}${withCode}`, formerOf };
}

/** The text with the decimal digits of every script as 0 to 9. */
function withPlainDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    // Unicode lists the ten digits of a script in order, from zero.
    let below = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(code - below - 1))) below++;
    return String(below % 10);
  });
}

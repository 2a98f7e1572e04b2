// Reads an amount as people type it, in forms and in files. Nothing is guessed: what can be read in two ways is refused with both.
import { exponentOf, type Currency } from './money.ts';
import { pastedText } from './visible-text.ts';

export type TypedAmount =
  /** In the currency's smallest unit, a safe integer. */
  | { readonly kind: 'amount'; readonly amount: number }
  /** What is wrong and how to write it, for the person who typed it. */
  | { readonly kind: 'refused'; readonly message: string };

// Commas, apostrophes and the spaces with which languages group digits: one kind in one number, three digits behind each.
const WHOLE = /^(?:\d+|[1-9]\d{0,2}([,'’\u0020\u00a0\u2007\u2009\u202f])\d{3}(?:\1\d{3})*)$/;
/** What may as well be a point that groups digits. */
const ONE_POINT = /^[1-9]\d{0,2}\.\d{3}$/;
const MARKED_DIGITS = /^\d[\d.,'’\s]*\d$/;
const MARKS = /[.,'’\s]/g;

/** The point before decimals is a point. Zero is an amount where `least` is 0. */
export function readTypedAmount(text: string, currency: Currency, least: 0 | 1 = 1): TypedAmount {
  const typed = pastedText(text);
  const [whole = '', fraction, ...more] = typed.split('.');
  const isWellFormed = more.length === 0 && WHOLE.test(whole) && (fraction === undefined || /^\d+$/.test(fraction));
  if (!isWellFormed || ONE_POINT.test(typed)) return refused(describeReadings(typed, currency), currency);
  const exponent = exponentOf(currency);
  if ((fraction ?? '').length > exponent) {
    return refused(`${currency} has ${exponent === 0 ? 'no' : exponent} decimals.`, currency);
  }
  const amount = Number(whole.replaceAll(MARKS, '') + (fraction ?? '').padEnd(exponent, '0'));
  if (!Number.isSafeInteger(amount)) return { kind: 'refused', message: 'This is more than any payment can be.' };
  if (amount < least) return { kind: 'refused', message: 'The amount must be more than 0.' };
  return { kind: 'amount', amount };
}

function refused(problem: string, currency: Currency): TypedAmount {
  const form = exponentOf(currency) === 0 ? 'such as 1500' : 'with a point before the decimals, such as 1500.50';
  return { kind: 'refused', message: `${problem} Write digits alone, ${form}.` };
}

/**
 * What may be meant by a text that is not written as amounts are here: its last comma or point may stand before decimals, and marks
 * of one kind may all group digits.
 */
function describeReadings(typed: string, currency: Currency): string {
  const marks: readonly string[] = typed.match(MARKS) ?? [];
  const last = marks.at(-1);
  const readings: string[] = [];
  if (last !== undefined && MARKED_DIGITS.test(typed)) {
    const at = typed.lastIndexOf(last);
    const isPoint = /[.,]/.test(last) && marks.indexOf(last) === marks.length - 1;
    if (isPoint) readings.push(withDecimals(grouped(typed.slice(0, at)), typed.slice(at + 1)));
    if (marks.every((mark) => mark === last)) readings.push(grouped(typed));
  }
  const [one, other] = readings;
  if (one === undefined) return `This is not an amount in ${currency}.`;
  return other === undefined ? `This can be read as ${one}.` : `This can be read as ${one} or as ${other}.`;
}

// With three decimals it would look like the other reading to people who group digits with points.
function withDecimals(whole: string, decimals: string): string {
  const shown = decimals.length > 2 ? decimals.replace(/0+$/, '') : decimals;
  return shown === '' ? whole : `${whole}.${shown}`;
}

function grouped(digits: string): string {
  return digits
    .replaceAll(MARKS, '')
    .replace(/^0+(?=\d)/, '')
    .replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

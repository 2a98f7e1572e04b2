// Reads an amount as people type it, in forms and files. Ambiguous text is refused with both readings.
import { exponentOf, type Currency } from './money.ts';
import { hasTurningMark, pastedText, TURNED } from './visible-text.ts';

export type TypedAmount =
  /** In the currency's smallest unit, a safe integer. */
  | { readonly kind: 'amount'; readonly amount: number }
  /** The fault and the correct form, for the person who typed the amount. */
  | { readonly kind: 'refused'; readonly message: string };

// Commas, apostrophes and spaces that group digits: one kind per number, three digits after each.
const WHOLE = /^(?:\d+|[1-9]\d{0,2}([,'’\u0020\u00a0\u2007\u2009\u202f])\d{3}(?:\1\d{3})*)$/;
/** A point that may also group digits. */
const ONE_POINT = /^[1-9]\d{0,2}\.\d{3}$/;
/** A comma that may also stand before decimals, in languages that write decimals so. */
const ONE_COMMA = /^[1-9]\d{0,2},\d{3}$/;
const MARKED_DIGITS = /^\d[\d.,'’\s]*\d$/;
const MARKS = /[.,'’\s]/g;

export type AmountForm = {
  /** 0: zero is an amount. Default: 1. */
  readonly least?: 0 | 1;
  /** Whether its author may write a comma before decimals: a single comma then groups nothing for certain. */
  readonly mayHaveDecimalComma?: boolean;
};

/** Reads a text whose decimals follow a point. */
export function readTypedAmount(text: string, currency: Currency, form: AmountForm = {}): TypedAmount {
  const { least = 1, mayHaveDecimalComma = false } = form;
  const typed = pastedText(text);
  if (hasTurningMark(typed)) return { kind: 'refused', message: TURNED };
  const [whole = '', fraction, ...more] = typed.split('.');
  const isWellFormed = more.length === 0 && WHOLE.test(whole) && (fraction === undefined || /^\d+$/.test(fraction));
  const hasTwoReadings = ONE_POINT.test(typed) || (mayHaveDecimalComma && ONE_COMMA.test(typed));
  if (!isWellFormed || hasTwoReadings)
    return refused(describeReadings(typed) ?? `This is not an amount in ${currency}.`, currency);
  const exponent = exponentOf(currency);
  if ((fraction ?? '').length > exponent) {
    // With only one reading, its form says everything.
    const readings = readingsOf(typed).length > 1 ? ` ${describeReadings(typed)}` : '';
    return refused(`${currency} has ${exponent === 0 ? 'no' : exponent} decimals.${readings}`, currency);
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
 * The possible readings of a text in another form: its last comma or point may stand before decimals, and marks of one
 * kind may all group digits.
 */
function readingsOf(typed: string): readonly string[] {
  const marks: readonly string[] = typed.match(MARKS) ?? [];
  const last = marks.at(-1);
  const readings: string[] = [];
  if (last !== undefined && MARKED_DIGITS.test(typed)) {
    const at = typed.lastIndexOf(last);
    const isPoint = /[.,]/.test(last) && marks.indexOf(last) === marks.length - 1;
    if (isPoint) readings.push(withDecimals(grouped(typed.slice(0, at)), typed.slice(at + 1)));
    if (marks.every((mark) => mark === last)) readings.push(grouped(typed));
  }
  return readings;
}

/** Null: there is no reading. */
function describeReadings(typed: string): string | null {
  const [one, other] = readingsOf(typed);
  if (one === undefined) return null;
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

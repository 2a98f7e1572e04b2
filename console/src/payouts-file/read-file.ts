// Reads a file of payouts: its rows, and the faults that make a row or the whole file unreadable.
//
// The API checks the payments. This file checks only the form: the columns, how amounts and phones are written, and
// rows that repeat each other.
import Papa from 'papaparse';
import { looksLikeFormula } from '../../../src/domain/csv.ts';
import { readTypedPhone, type TypedPhone } from '../../../src/domain/payments/typed-phone.ts';
import type { TypedAmount } from '../../../src/domain/typed-amount.ts';
import { readAmount } from '../ui/format.ts';

export const COLUMNS = ['phone', 'amount', 'reference', 'description', 'payee_name', 'operator'] as const;
export type Column = (typeof COLUMNS)[number];
const REQUIRED: readonly Column[] = ['phone', 'amount', 'reference'];
export const MAX_ROWS = 1000;
export const MAX_FILE_BYTES = 1024 * 1024;
/** Longer than any column may be, and short enough for the check of a row. */
const MAX_CELL_LENGTH = 300;

/** Null: the whole row. */
export type Problem = { readonly column: Column | null; readonly message: string };

export type FileRow = {
  /** As a spreadsheet counts: the header is row 1. */
  readonly number: number;
  /** As written in the file. */
  readonly cells: Readonly<Record<Column, string>>;
  /** The fields of the payout, without unreadable ones. */
  readonly payout: {
    readonly phone?: string;
    readonly amount?: number;
    readonly reference?: string;
    readonly description?: string;
    readonly payee_name?: string;
    readonly operator?: string;
  };
  readonly problems: readonly Problem[];
};

/** Why the file as a whole cannot be used; the message says what to do. */
export class UnreadableFile extends Error {}

export type FileContext = {
  readonly currency: string;
  /** The countries whose numbers may have no country code. */
  readonly countries: readonly string[];
};

/** Throws `UnreadableFile`. */
export function readFile(bytes: Uint8Array, context: FileContext): readonly FileRow[] {
  const { records, form } = parse(decode(bytes));
  const rows = records.flatMap((record, index) => (isBlank(record) ? [] : [readRow(record, form, index + 2, context)]));
  if (rows.length === 0) throw new UnreadableFile('The file has no rows below its header.');
  if (rows.length > MAX_ROWS) {
    throw new UnreadableFile(`The file has ${rows.length} rows. Split it into files of at most ${MAX_ROWS}.`);
  }
  return withRepeats(rows);
}

/** The first bytes of spreadsheet files that are not CSV. */
const SPREADSHEET_BEGINNINGS = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
];
const NO_TEXT = 'The file is not text in UTF-8. Save it as “CSV UTF-8” in your spreadsheet.';

function decode(bytes: Uint8Array): string {
  if (SPREADSHEET_BEGINNINGS.some((beginning) => beginning.every((byte, index) => bytes[index] === byte))) {
    throw new UnreadableFile('This is a spreadsheet, whatever its name. Open it there, and save it as “CSV UTF-8”.');
  }
  if (bytes.byteLength > MAX_FILE_BYTES) throw new UnreadableFile('The file is larger than 1 MB.');
  let text: string;
  try {
    // It drops the byte order mark that spreadsheets write.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile(NO_TEXT);
  }
  // UTF-16 of Latin letters is UTF-8 with a zero after each.
  if (text.includes('\0')) throw new UnreadableFile(NO_TEXT);
  if (text.trim() === '') throw new UnreadableFile('The file is empty.');
  return text;
}

/** By position; null: a column without a name, which must be empty. */
type Columns = readonly (Column | null)[];
type Form = { readonly columns: Columns; readonly delimiter: ',' | ';' };

function parse(text: string): { records: readonly (readonly string[])[]; form: Form } {
  // The parser uses the first line end that it finds for all lines, and programs mix them.
  const lines = text.replaceAll(/\r\n?/g, '\n');
  const [headerLine = ''] = lines.split('\n', 1);
  if (headerLine.trim().includes('\t')) {
    throw new UnreadableFile('Its columns are separated by tabs. Save it as “CSV UTF-8”, with commas or semicolons.');
  }
  const delimiter = headerLine.includes(';') ? ';' : ',';
  const { data, errors } = Papa.parse<string[]>(lines, { delimiter });
  const [error] = errors;
  if (error) throw new UnreadableFile(`Row ${(error.row ?? 0) + 1} cannot be read: ${error.message}.`);
  const [header = [], ...records] = data;
  return { records, form: { columns: readHeader(header), delimiter } };
}

function readHeader(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new UnreadableFile(`The first row must name the columns. Missing: ${missing.join(', ')}.`);
  }
  const named = names.filter((name) => name !== '');
  const unknown = named.filter((name) => !(COLUMNS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    const shown = unknown.map((name) => name.slice(0, 40));
    throw new UnreadableFile(`These columns are unknown: ${shown.join(', ')}. Remove them.`);
  }
  if (new Set(named).size < named.length) throw new UnreadableFile('The first row names a column twice.');
  return names.map((name) => (name === '' ? null : (name as Column)));
}

function isBlank(record: readonly string[]): boolean {
  return record.every((cell) => cell.trim() === '');
}

function readRow(record: readonly string[], form: Form, number: number, context: FileContext): FileRow {
  const { columns } = form;
  const cellOf = (name: Column) => record[columns.indexOf(name)]?.trim() ?? '';
  const cells = {
    phone: cellOf('phone'),
    amount: cellOf('amount'),
    reference: cellOf('reference'),
    description: cellOf('description'),
    payee_name: cellOf('payee_name'),
    operator: cellOf('operator'),
  };
  const isAstray = record.some((cell, index) => (columns[index] ?? null) === null && cell.trim() !== '');
  const astray = 'It has more cells than the header names. Quote a text that has a comma in it.';
  const found = { ...findWrongForms(cells) };
  const phone = found.phone === undefined && cells.phone !== '' ? readPhone(cells.phone, context) : null;
  if (phone !== null && 'message' in phone) found.phone = phone.message;
  const amount =
    found.amount === undefined && cells.amount !== '' ? readAmountOf(cells.amount, record, form, context) : null;
  if (amount !== null && 'message' in amount) found.amount = amount.message;
  const isGood = (column: Column) => cells[column] !== '' && found[column] === undefined;
  const payout = {
    ...(phone?.kind === 'phone' && { phone: phone.phone.digits }),
    ...(amount?.kind === 'amount' && { amount: amount.amount }),
    ...(isGood('reference') && { reference: cells.reference }),
    ...(isGood('description') && { description: cells.description }),
    ...(isGood('payee_name') && { payee_name: cells.payee_name }),
    ...(isGood('operator') && { operator: cells.operator.toLowerCase() }),
  };
  const ofCells = COLUMNS.flatMap((column): Problem[] => {
    const message = found[column];
    return message === undefined ? [] : [{ column, message }];
  });
  return { number, cells, payout, problems: [...(isAstray ? [{ column: null, message: astray }] : []), ...ofCells] };
}

/** Faults of a cell, whatever its meaning. */
function findWrongForms(cells: FileRow['cells']): Partial<Record<Column, string>> {
  const wrong = COLUMNS.flatMap((column): (readonly [Column, string])[] => {
    if (cells[column].length > MAX_CELL_LENGTH) return [[column, 'This is far too long.']];
    // A phone number may have its plus sign.
    if (column !== 'phone' && looksLikeFormula(cells[column])) {
      return [[column, 'A spreadsheet would take this for a formula. Begin it with a letter or a digit.']];
    }
    return [];
  });
  return Object.fromEntries(wrong);
}

function readPhone(text: string, { countries }: FileContext): TypedPhone {
  if (!/e\+?\d/i.test(text)) return readTypedPhone(text, countries);
  const message = 'The spreadsheet has shortened this number. Format the column as text and enter it again.';
  return { kind: 'refused', message, formerOf: [] };
}

function readAmountOf(text: string, record: readonly string[], form: Form, { currency }: FileContext): TypedAmount {
  // Spreadsheets separate columns by semicolons where a comma stands before decimals.
  if (form.delimiter === ';') return readAmount(text, currency, { mayHaveDecimalComma: true });
  const whole = findCutAmount(text, record.slice(form.columns.indexOf('amount') + 1));
  if (whole === null) return readAmount(text, currency);
  const message =
    `Is it ${text}, with ${whole.split(',')[1]} in the next column, or ${whole}? ` +
    'Put an amount that has a comma in quotes. If this one has none, make the amount the last column.';
  return { kind: 'refused', message };
}

/** The amount that was split into several cells if its commas were taken for separators; null: none was. */
function findCutAmount(text: string, cellsBehind: readonly string[]): string | null {
  if (!/^[1-9]\d{0,2}$/.test(text)) return null;
  const groups: string[] = [];
  for (const cell of cellsBehind.map((each) => each.trim())) {
    if (!/^\d{3}(\.\d+)?$/.test(cell)) break;
    groups.push(cell);
    if (cell.includes('.')) break;
  }
  return groups.length === 0 ? null : [text, ...groups].join(',');
}

/** Marks the rows that repeat an earlier one, and those that share a reference and so cannot be distinguished. */
function withRepeats(rows: readonly FileRow[]): readonly FileRow[] {
  const firstOf = new Map<string, FileRow>();
  const byReference = new Map<string, FileRow[]>();
  for (const row of rows) {
    const content = JSON.stringify(row.payout);
    if (!firstOf.has(content)) firstOf.set(content, row);
    const { reference } = row.payout;
    if (reference !== undefined && firstOf.get(content) === row) {
      byReference.set(reference, [...(byReference.get(reference) ?? []), row]);
    }
  }
  return rows.map((row) => {
    const first = firstOf.get(JSON.stringify(row.payout));
    if (first !== undefined && first !== row) {
      return withProblem(row, { column: null, message: `It is the same as row ${first.number}.` });
    }
    const others = (byReference.get(row.payout.reference ?? '') ?? []).filter((other) => other !== row);
    if (others.length === 0) return row;
    const where = others.map(({ number }) => number).slice(0, 5);
    return withProblem(row, { column: 'reference', message: `Row ${where.join(', ')} has the same reference.` });
  });
}

function withProblem(row: FileRow, problem: Problem): FileRow {
  return { ...row, problems: [...row.problems, problem] };
}

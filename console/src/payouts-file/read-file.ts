// Reads a file of payouts: its rows as they would be made, and what makes a row or the whole file unreadable.
//
// What can be wrong with a payment is the API's to say. Here is only what is about the file: its form, its columns, how an amount is
// written, and rows that repeat each other.
import Papa from 'papaparse';
import { looksLikeFormula } from '../../../src/domain/csv.ts';
import { parseAmount } from '../ui/format.ts';

export const COLUMNS = ['phone', 'amount', 'reference', 'description'] as const;
export type Column = (typeof COLUMNS)[number];
const REQUIRED: readonly Column[] = ['phone', 'amount', 'reference'];
export const MAX_ROWS = 1000;
export const MAX_FILE_BYTES = 1024 * 1024;
/** Longer than any column may be, and short enough for the check of a row. */
const MAX_CELL_LENGTH = 300;

/** Null: of the whole row. */
export type Problem = { readonly column: Column | null; readonly message: string };

export type FileRow = {
  /** As a spreadsheet counts: the header is row 1. */
  readonly number: number;
  /** As it is written in the file. */
  readonly cells: Readonly<Record<Column, string>>;
  /** What the payout would be made of; without what could not be read. */
  readonly payout: {
    readonly phone?: string;
    readonly amount?: number;
    readonly reference?: string;
    readonly description?: string;
  };
  readonly problems: readonly Problem[];
};

/** Why the file as a whole cannot be used; the message says what to do. */
export class UnreadableFile extends Error {}

/** Throws `UnreadableFile`. */
export function readFile(bytes: Uint8Array, currency: string): readonly FileRow[] {
  const { records, columns } = parse(decode(bytes));
  const rows = records.flatMap((record, index) =>
    isBlank(record) ? [] : [readRow(record, { columns, number: index + 2, currency })],
  );
  if (rows.length === 0) throw new UnreadableFile('The file has no rows below its header.');
  if (rows.length > MAX_ROWS) {
    throw new UnreadableFile(`The file has ${rows.length} rows. Split it into files of at most ${MAX_ROWS}.`);
  }
  return withRepeats(rows);
}

function decode(bytes: Uint8Array): string {
  if (bytes.byteLength > MAX_FILE_BYTES) throw new UnreadableFile('The file is larger than 1 MB.');
  try {
    // It drops the byte order mark that spreadsheets write.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableFile('The file is not text in UTF-8. Save it as “CSV UTF-8” in your spreadsheet.');
  }
}

function parse(text: string): { records: readonly (readonly string[])[]; columns: readonly Column[] } {
  const [headerLine = ''] = text.split(/\r\n|\r|\n/, 1);
  const delimiter = headerLine.includes(';') ? ';' : ',';
  const { data, errors } = Papa.parse<string[]>(text, { delimiter });
  const [error] = errors;
  if (error) throw new UnreadableFile(`Row ${(error.row ?? 0) + 1} cannot be read: ${error.message}.`);
  const [header = [], ...records] = data;
  return { records, columns: readHeader(header) };
}

function readHeader(header: readonly string[]): readonly Column[] {
  const names = header.map((name) => name.trim().toLowerCase());
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new UnreadableFile(`The first row must name the columns. Missing: ${missing.join(', ')}.`);
  }
  const unknown = names.filter((name) => !(COLUMNS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    const shown = unknown.map((name) => (name === '' ? 'one without a name' : name.slice(0, 40)));
    throw new UnreadableFile(`These columns mean nothing here: ${shown.join(', ')}. Remove them.`);
  }
  if (new Set(names).size < names.length) throw new UnreadableFile('The first row names a column twice.');
  return names as Column[];
}

function isBlank(record: readonly string[]): boolean {
  return record.every((cell) => cell.trim() === '');
}

type RowContext = { readonly columns: readonly Column[]; readonly number: number; readonly currency: string };

function readRow(record: readonly string[], { columns, number, currency }: RowContext): FileRow {
  const problems: Problem[] = [];
  if (record.length > columns.length) {
    problems.push({ column: null, message: 'It has more cells than the header. Quote a text that has a comma in it.' });
  }
  const cellOf = (name: Column) => record[columns.indexOf(name)]?.trim() ?? '';
  const cells = {
    phone: cellOf('phone'),
    amount: cellOf('amount'),
    reference: cellOf('reference'),
    description: cellOf('description'),
  };
  const put = (column: Column, message: string) => problems.push({ column, message });
  for (const column of COLUMNS) {
    if (cells[column].length > MAX_CELL_LENGTH) put(column, 'This is far too long.');
    // A phone number may have its plus sign.
    else if (column !== 'phone' && looksLikeFormula(cells[column])) {
      put(column, 'A spreadsheet would take this for a formula. Begin it with a letter or a digit.');
    }
  }
  if (/e\+?\d/i.test(cells.phone)) {
    put('phone', 'The spreadsheet has shortened this number. Format the column as text and enter it again.');
  }
  const amount = readAmount(cells.amount, currency);
  if (amount === null && cells.amount !== '' && !problems.some(({ column }) => column === 'amount')) {
    put(
      'amount',
      `This is no amount in ${currency}. Write digits alone, such as 12500, without separators of thousands.`,
    );
  }
  const isGood = (column: Column) => cells[column] !== '' && !problems.some((problem) => problem.column === column);
  const payout = {
    ...(isGood('phone') && { phone: cells.phone.replaceAll(/[\s+]/g, '') }),
    ...(amount !== null && isGood('amount') && { amount }),
    ...(isGood('reference') && { reference: cells.reference }),
    ...(isGood('description') && { description: cells.description }),
  };
  return { number, cells, payout, problems };
}

// A comma may be that of thousands or that of decimals, by the country of the spreadsheet, so none is taken.
function readAmount(text: string, currency: string): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? parseAmount(text, currency) : null;
}

/** Names the rows that repeat one above them, and those that share a reference, of which nobody can tell which is meant. */
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

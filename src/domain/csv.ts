// Lines of CSV (RFC 4180) that a spreadsheet shows and never runs.

/** Our own numbers and times are written unchanged; `text` is what people gave. */
export type Cell = { readonly text: string | null } | string | number | bigint | null;

// Characters that may begin a formula in a spreadsheet, after characters that it skips; full-width forms count too.
const FORMULA = /^[\s\0]*[=+\-@＝＋－＠|%]|^[\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** The line with its end. An apostrophe before a text keeps a spreadsheet from running it; null is an empty cell. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Whether a spreadsheet may take this text for a formula. */
export function looksLikeFormula(text: string): boolean {
  return FORMULA.test(text);
}

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell !== 'object') return quoted(String(cell));
  if (cell.text === null) return '';
  return quoted(looksLikeFormula(cell.text) ? `'${cell.text}` : cell.text);
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Gives the person a CSV file that the page itself wrote.
import { csvLine, type Cell } from '../../../src/domain/csv.ts';

/** With a byte order mark, without which spreadsheets misread letters beyond ASCII. */
export function downloadCsv(name: string, lines: readonly (readonly Cell[])[]): void {
  const url = URL.createObjectURL(new Blob(['\uFEFF', ...lines.map(csvLine)], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then, and holds what it needs.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

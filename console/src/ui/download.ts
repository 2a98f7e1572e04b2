// Gives the person a CSV file.
import { csvLine, type Cell } from '../../../src/domain/csv.ts';

/** For a file that the page itself wrote. */
export function downloadCsv(name: string, lines: readonly (readonly Cell[])[]): void {
  save(name, lines.map(csvLine));
}

/** With a byte order mark, without which spreadsheets misread letters beyond ASCII. */
export function save(name: string, parts: readonly BlobPart[]): void {
  const url = URL.createObjectURL(new Blob(['\uFEFF', ...parts], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then the download has begun with its own copy.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

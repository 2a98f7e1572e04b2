// A file of JSON lines that survives a killed process: a line is with the operating system before the call returns.
import { appendFileSync } from 'node:fs';

export type LineFile = { readonly path: string; append(entry: object): void };

export function openLineFile(path: string): LineFile {
  appendFileSync(path, '');
  return {
    path,
    append(entry) {
      appendFileSync(path, `${JSON.stringify(entry)}\n`);
    },
  };
}

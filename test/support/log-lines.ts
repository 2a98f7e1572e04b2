// The lines of a log, as a test reads them.
import { readFileSync } from 'node:fs';
import { createLog, type Log } from '../../src/log.ts';

export type LogLine = Readonly<Record<string, unknown>> & {
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly paymentId?: string;
  readonly traceId?: string;
};

/** A log whose lines stay in memory. */
export function collectedLog(level = 'info'): { readonly lines: LogLine[]; readonly log: Log } {
  const lines: LogLine[] = [];
  const destination = {
    write: (text: string): void => {
      lines.push(JSON.parse(text) as LogLine);
    },
  };
  return { lines, log: createLog({ level, process: 'test', destination }) };
}

/** The lines that one of our processes wrote into a file. */
export function linesOf(file: string): LogLine[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}

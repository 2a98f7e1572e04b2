// A log file that a child process writes to directly, and its last lines for the error message when the child fails.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const TAIL_BYTES = 8_192;
const TAIL_LINES = 15;
const LARGEST_LOG_BYTES = 20 * 1_024 * 1_024;

export type LogFile = {
  readonly fd: number;
  readonly errorFd: number;
  /** The last lines written since the file was opened, or a note that there are none. */
  tail(): string;
  /** Closes our copy of `fd`; a child keeps its own. */
  close(): void;
};

/** Opens the file for appending; a file that is too large is renamed to `.1` first. */
export function openLogFile(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_LOG_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  const openedAtByte = fstatSync(fd).size;
  return {
    fd,
    errorFd: fd,
    tail: () => tailOf(path, openedAtByte),
    close: () => {
      closeSync(fd);
    },
  };
}

/** The output of this process instead of a file: a child's output is visible at once. */
export const OWN_OUTPUT: LogFile = {
  fd: 1,
  errorFd: 2,
  tail: () => '(it is above)',
  close: () => undefined,
};

function tailOf(path: string, fromByte: number): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const start = Math.max(fromByte, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    const length = readSync(fd, buffer, 0, buffer.length, start);
    const lines = buffer.toString('utf8', 0, length).trimEnd().split('\n').slice(-TAIL_LINES);
    return lines.join('\n') || '(it wrote nothing)';
  } finally {
    closeSync(fd);
  }
}

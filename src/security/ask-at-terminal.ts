// Asks a person at a terminal, for the command lines. A secret is not shown while it is typed.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

export type TerminalStreams = { readonly stdin: NodeJS.ReadableStream; readonly stderr: NodeJS.WritableStream };

/** The answer without its line end; null: the terminal was closed without one. A `hidden` answer is not shown. */
export async function askAtTerminal(
  { stdin, stderr }: TerminalStreams,
  question: string,
  { hidden }: { readonly hidden: boolean },
): Promise<string | null> {
  // readline echoes typed characters to its output: for a secret the output discards them.
  const output = hidden ? new Writable({ write: discard }) : stderr;
  // Created before the question is printed, because it turns off the terminal's own echo.
  const lines = createInterface({ input: stdin, output, terminal: true });
  if (hidden) stderr.write(`${question}: `);
  // Ctrl-C and Ctrl-D close the interface, and then its question never resolves.
  const closed = new Promise<null>((resolve) => {
    lines.on('close', () => {
      resolve(null);
    });
  });
  try {
    return await Promise.race([lines.question(hidden ? '' : `${question}: `), closed]);
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}

function discard(_chunk: unknown, _encoding: string, done: () => void): void {
  done();
}

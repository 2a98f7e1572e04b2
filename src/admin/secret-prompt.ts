// Asks whoever runs a command for their secrets: at a terminal without showing them, otherwise a line of standard input each.
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** The terminal or standard input ended without an answer. */
export class NothingEntered extends Error {}

export type SecretPrompt = {
  readonly isTerminal: boolean;
  /** The line that was entered, without its end. Throws where no more is entered. */
  ask(question: string): Promise<string>;
};

/** One for a process: what was read ahead of a question is the answer to the next. */
export function openSecretPrompt(): SecretPrompt {
  const { stdin, stderr } = process;
  const isTerminal = stdin.isTTY && stderr.isTTY;
  return { isTerminal, ask: isTerminal ? askHidden : askLines() };
}

// readline shows what is typed on its output: this one discards it.
async function askHidden(question: string): Promise<string> {
  const output = new Writable({ write: discard });
  // Created before the question is printed, because it turns off the terminal's own echo.
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  process.stderr.write(`${question}: `);
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => {
        reject(new NothingEntered(`nothing was entered for the ${question}`));
      });
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

function askLines(): SecretPrompt['ask'] {
  let lines: AsyncIterator<string, unknown> | null = null;
  return async (question) => {
    lines ??= createInterface({ input: process.stdin, terminal: false })[Symbol.asyncIterator]();
    const next = await lines.next();
    if (next.done === true) throw new NothingEntered(`standard input has no line for the ${question}`);
    return next.value;
  };
}

function discard(_chunk: unknown, _encoding: string, done: () => void): void {
  done();
}

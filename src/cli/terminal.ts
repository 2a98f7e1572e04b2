// Prints results to stdout and everything else to stderr, and asks a person for input if there is a terminal.
import type { ReadStream, WriteStream } from 'node:tty';
import { askAtTerminal } from '../security/ask-at-terminal.ts';
import { visibleJson, withoutInvisible } from '../domain/visible-text.ts';
import { CliFailure } from './failure.ts';

type Colour = 'green' | 'red' | 'yellow' | 'dim';
const CODES: Readonly<Record<Colour, number>> = { green: 32, red: 31, yellow: 33, dim: 2 };

export type Streams = {
  readonly stdin: ReadStream | NodeJS.ReadableStream;
  readonly stdout: WriteStream | NodeJS.WritableStream;
  readonly stderr: WriteStream | NodeJS.WritableStream;
};

/** Text in colour, if stdout is a terminal and colours are on. */
export type Painted = { readonly colour: Colour; readonly text: string };

/**
 * Shows every character of a text: those that could control the terminal, change the reading direction, or hide are
 * written as numbers. Line ends and tabs stay.
 */
export type Terminal = {
  print(...parts: readonly (string | Painted)[]): void;
  printJson(value: unknown): void;
  /** Prints a message to a person, beside the result. */
  say(line: string): void;
  /** Asks a person. A `hidden` answer is not shown while it is typed. Throws a usage failure without a terminal. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string>;
};

export function createTerminal(streams: Streams, environment: Readonly<Record<string, string | undefined>>): Terminal {
  const { stdin, stdout, stderr } = streams;
  const isColoured = isTerminal(stdout) && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  const shown = (part: string | Painted) => {
    if (typeof part === 'string') return printable(part);
    const text = printable(part.text);
    return isColoured ? `\u001b[${CODES[part.colour]}m${text}\u001b[0m` : text;
  };
  return {
    print: (...parts) => void stdout.write(`${parts.map(shown).join('')}\n`),
    printJson: (value) => void stdout.write(`${visibleJson(value)}\n`),
    say: (line) => void stderr.write(`${printable(line)}\n`),
    async ask(question, { hidden = false } = {}) {
      if (!isTerminal(stdin) || !isTerminal(stderr)) {
        throw new CliFailure('usage', `no terminal to ask for: ${question}. Set it in the environment`);
      }
      const answer = await askAtTerminal({ stdin, stderr }, question, { hidden });
      if (answer === null) throw new CliFailure('failed', 'no answer was given');
      return answer.trim();
    },
  };
}

function isTerminal(stream: NodeJS.ReadableStream | NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}

function printable(text: string): string {
  return text.replace(/[^\n\t]+/g, (line) => withoutInvisible(line));
}

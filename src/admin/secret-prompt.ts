// Asks the person who runs a command for their secrets: at a terminal without showing them, otherwise a line of standard input each.
import { createInterface } from 'node:readline';
import { askAtTerminal } from '../security/ask-at-terminal.ts';

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

async function askHidden(question: string): Promise<string> {
  const answer = await askAtTerminal(process, question, { hidden: true });
  if (answer === null) throw new NothingEntered(`nothing was entered for the ${question}`);
  return answer;
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

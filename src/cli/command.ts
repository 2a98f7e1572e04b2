// What a command is, and how its words and options are read.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { ConfigFile } from './config-file.ts';
import { usage } from './failure.ts';
import type { Terminal } from './terminal.ts';

export type Options = NonNullable<ParseArgsConfig['options']>;
export type Environment = Readonly<Record<string, string | undefined>>;

export type Context = {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly config: ConfigFile;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
};

/** The words and options after the command's name. */
export type Line = {
  readonly words: readonly string[];
  readonly isJson: boolean;
  text(name: string): string | null;
  flag(name: string): boolean;
};

export type Command = {
  readonly name: string;
  /** For the list of commands. */
  readonly summary: string;
  /** The whole page. */
  readonly help: string;
  readonly options: Options;
  /** How many words it takes: from, to. */
  readonly words: readonly [number, number];
  /** It ends well by Ctrl-C, of which it hears by `stop`. */
  readonly endsByInterrupt?: true;
  run(line: Line, context: Context): Promise<void>;
};

export const TEXT = { type: 'string' } as const;
export const FLAG = { type: 'boolean' } as const;

/** Options that every command takes. */
const COMMON: Options = { 'base-url': TEXT, json: FLAG, help: { type: 'boolean', short: 'h' } };

/** Throws a usage failure for what the command does not know. */
export function readLine(command: Command, args: readonly string[]): Line {
  const { values, positionals } = parse(command, args);
  const [fewest, most] = command.words;
  const isHelp = values['help'] === true;
  if (!isHelp && positionals.length < fewest) throw usage(`malipo ${command.name} needs more words`);
  if (!isHelp && positionals.length > most) {
    throw usage(`malipo ${command.name} does not know what to do with “${positionals[most] ?? ''}”`);
  }
  return {
    words: positionals,
    isJson: values['json'] === true,
    text(name) {
      const value = values[name];
      return typeof value === 'string' ? value : null;
    },
    flag: (name) => values[name] === true,
  };
}

function parse({ options }: Command, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...COMMON, ...options } });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

/** A whole number of 1 or more; null without the option. */
export function readCount(line: Line, name: string, most: number): number | null {
  const text = line.text(name);
  if (text === null) return null;
  const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
  if (count >= 1 && count <= most) return count;
  throw usage(`--${name} must be a whole number from 1 to ${most}`);
}

const AGO: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment as RFC 3339, or so long ago: `90s`, `10m`, `2h`, `3d`. Null without the option. */
export function readMoment(line: Line, name: string, now = Date.now()): Date | null {
  const text = line.text(name);
  if (text === null) return null;
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now - Number(count) * (AGO[unit] ?? 0));
  const moment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? new Date(text)
    : new Date(NaN);
  if (!isNaN(moment.getTime())) return moment;
  throw usage(
    `--${name} must be a time (2026-01-31T12:00:00Z), a day in UTC (2026-01-31), or so long ago (10m, 2h, 3d)`,
  );
}

/** Words with commas between them; null without the option. */
export function readWords(line: Line, name: string, known: readonly string[]): string[] | null {
  const text = line.text(name);
  if (text === null) return null;
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length > 0 || words.length === 0) {
    throw usage(`--${name} does not know “${unknown.join(', ')}”; it takes: ${known.join(', ')}`);
  }
  return words;
}

/** Rows under a head, in columns as wide as they need. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, n) => Math.max(title.length, ...rows.map((row) => (row[n] ?? '').length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

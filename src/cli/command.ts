// Defines a command, and reads its positional arguments and options.
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

export type CommandLine = {
  readonly positionals: readonly string[];
  readonly isJson: boolean;
  text(name: string): string | null;
  flag(name: string): boolean;
};

export type Command = {
  readonly name: string;
  readonly summary: string;
  readonly help: string;
  /** The options besides those of every command; by default none. */
  readonly options?: Options;
  /** The least and the most positional arguments; by default none. */
  readonly positionals?: readonly [number, number];
  /** Ctrl-C is its normal end, signalled by `stop`. */
  readonly endsByInterrupt?: true;
  run(line: CommandLine, context: Context): Promise<void>;
};

export const TEXT = { type: 'string' } as const;
export const FLAG = { type: 'boolean' } as const;

const GLOBAL_OPTIONS: Options = { 'base-url': TEXT, json: FLAG, help: { type: 'boolean', short: 'h' } };

/** Throws a usage failure for arguments and options that the command does not have. */
export function parseCommandLine(command: Command, args: readonly string[]): CommandLine {
  const { values, positionals } = parse(command, args);
  const [fewest, most] = command.positionals ?? [0, 0];
  const isHelp = values['help'] === true;
  if (!isHelp && positionals.length < fewest) throw usage(`malipo ${command.name} needs more arguments`);
  if (!isHelp && positionals.length > most) {
    throw usage(`malipo ${command.name} does not take the argument “${positionals[most] ?? ''}”`);
  }
  return {
    positionals,
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
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...GLOBAL_OPTIONS, ...options } });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

/** A whole number from 1 to `most`; null without the option. */
export function readCount(line: CommandLine, name: string, most: number): number | null {
  const text = line.text(name);
  if (text === null) return null;
  const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
  if (count >= 1 && count <= most) return count;
  throw usage(`--${name} must be a whole number from 1 to ${most}`);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time in RFC 3339, or relative to now: `90s`, `10m`, `2h`, `3d` ago. Null without the option. */
export function readMoment(line: CommandLine, name: string): Date | null {
  const text = line.text(name);
  if (text === null) return null;
  const [, count, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (UNIT_MS[unit] ?? 0));
  const moment = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? new Date(text)
    : new Date(NaN);
  if (!isNaN(moment.getTime())) return moment;
  throw usage(`--${name} must be a time (2026-01-31T12:00:00Z), a day in UTC (2026-01-31), or an age (10m, 2h, 3d)`);
}

/** One or more of the known values, separated by commas; null without the option. */
export function readChoices(line: CommandLine, name: string, known: readonly string[]): string[] | null {
  const text = line.text(name);
  if (text === null) return null;
  const values = text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  const unknown = values.filter((value) => !known.includes(value));
  if (unknown.length > 0 || values.length === 0) {
    throw usage(`--${name} does not take “${unknown.join(', ')}”; it takes one of: ${known.join(', ')}`);
  }
  return values;
}

/** One of the known values; null without the option. */
export function readChoice(line: CommandLine, name: string, known: readonly string[]): string | null {
  const values = readChoices(line, name, known);
  if (values && values.length > 1) throw usage(`--${name} takes one ${name}`);
  return values?.[0] ?? null;
}

/** Prints a result as JSON or, for a person, as this text. */
export function printResult({ isJson }: CommandLine, { terminal }: Context, result: unknown, text: string): void {
  if (isJson) terminal.printJson(result);
  else terminal.print(text);
}

/** Lines of text: the rows under a head, in columns of the necessary width. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, n) => Math.max(title.length, ...rows.map((row) => (row[n] ?? '').length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

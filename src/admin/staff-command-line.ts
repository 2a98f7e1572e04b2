// The command line of `npm run staff`: its help pages, and how arguments become one of the staff's commands.
import { ConfigError, requiredStaffSettings } from '../settings/config.ts';
import { RecordFault } from './audit-commands.ts';
import type { StaffCommand, StaffEnvironment, StaffOutcome } from './staff-command.ts';
import { OPTIONS, parseOptions, UsageError } from './staff-options.ts';

export type StaffCommands = Readonly<Record<string, StaffCommand>>;

export type StaffRun = {
  readonly args: readonly string[];
  readonly commands: StaffCommands;
  /** The settings that the command gets, and where they come from, in words. Throws where they cannot be read. */
  readonly settings: () => { readonly environment: StaffEnvironment; readonly source: string };
};

type Wanted =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'command'; readonly name: string; readonly run: ReturnType<StaffCommand['read']> };

/** Runs the command, prints its text or the error, and returns the exit code that the help page names. */
export async function runStaffCommand({ args, commands, settings }: StaffRun): Promise<number> {
  const wanted = interpret(args, commands);
  if (wanted.kind === 'wrong') {
    process.stderr.write(`${wanted.problem}\n\n${wanted.help}`);
    return 2;
  }
  if (wanted.kind === 'help') {
    process.stdout.write(wanted.text);
    return 0;
  }
  let source = 'the environment';
  try {
    const found = settings();
    source = found.source;
    const { text, exitCode = 0 }: StaffOutcome = await wanted.run(found.environment);
    process.stdout.write(text);
    return exitCode;
  } catch (error) {
    process.stderr.write(failureText(error, wanted.name, source));
    return 1;
  }
}

function failureText(error: unknown, name: string, source: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof RecordFault) return `${text}\n`;
  if (error instanceof ConfigError) {
    return `nothing was done: ${text}\nThese are settings of the server; npm run staff -- ${name} --help names those that it needs. They come from ${source}.\n`;
  }
  const reason = text === '' ? 'the database does not answer' : text;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isAway = typeof code === 'string' && /^(ECONN|ENOTFOUND|ETIMEDOUT|EHOST)/.test(code);
  return `nothing was done: ${reason}${isAway || text === '' ? ` (the settings are those of ${source})` : ''}\n`;
}

function interpret(
  args: readonly string[],
  commands: StaffCommands,
): Wanted | { readonly kind: 'wrong'; readonly problem: string; readonly help: string } {
  let found: readonly [string, StaffCommand] | null = null;
  try {
    const { isHelp, options, words } = parseOptions(args);
    found = find(words, commands);
    if (isHelp) return { kind: 'help', text: found === null ? overview(commands) : pageOf(...found) };
    if (found === null) throw new UsageError(`the commands are: ${Object.keys(commands).join(', ')}`);
    return { kind: 'command', name: found[0], run: found[1].read(options, found[0]) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { kind: 'wrong', problem: error.message, help: found === null ? overview(commands) : pageOf(...found) };
  }
}

/** The command whose words these are, and no others. */
function find(words: readonly string[], commands: StaffCommands): readonly [string, StaffCommand] | null {
  const name = words.join(' ');
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return command === undefined ? null : [name, command];
}

function overview(commands: StaffCommands): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `usage: npm run staff -- COMMAND [options]

For the service's staff, on the database of a deployment. Commands with --as are acts of the person it names, who logs in for
each: at a terminal they ask for password and one-time code, otherwise they read them as two lines of standard input.

${lines.join('\n')}

npm run staff -- COMMAND --help is a command's own page. Settings are those of the server, from the environment, and each
command names those that it needs. Beside a running npm start none need to be set: they are found in its data folder
(MALIPO_DATA_DIR, or var).

exit codes: 0 done, 1 the command failed or found a fault, 2 the command line is wrong
`;
}

function pageOf(name: string, { usage, help, needs }: StaffCommand): string {
  const used = Object.keys(OPTIONS).filter((option) => new RegExp(`--${option}\\b`).test(usage));
  const lines = used.map((option) => {
    const [value = '', text = ''] = OPTIONS[option] ?? [];
    return `  ${`--${option} ${value}`.padEnd(18)} ${text}\n`;
  });
  const settings =
    needs === 'nothing'
      ? 'It uses whichever settings are set.'
      : `Settings that it needs: ${requiredStaffSettings(needs).join(', ')}; MALIPO_ENVIRONMENT where it is not test.`;
  return `usage: npm run staff -- ${`${name} ${usage}`.trimEnd()}

${help}
${lines.length > 0 ? `\n${lines.join('')}` : ''}
${settings}
`;
}

// Runs the command line: finds the command, runs it, and returns its exit code.
import { once } from 'node:events';
import { ApiRefusal } from './api.ts';
import { parseCommandLine, table, type Command, type Context, type Environment } from './command.ts';
import { deliveries } from './commands/deliveries.ts';
import { endpoints } from './commands/endpoints.ts';
import { events } from './commands/events.ts';
import { listen } from './commands/listen.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { replay } from './commands/replay.ts';
import { replays } from './commands/replays.ts';
import { resend } from './commands/resend.ts';
import { trigger } from './commands/trigger.ts';
import { whoami } from './commands/whoami.ts';
import { openConfigFile } from './config-file.ts';
import { CliFailure, EXIT } from './failure.ts';
import { createTerminal, type Streams, type Terminal } from './terminal.ts';

const COMMANDS: readonly Command[] = [
  login,
  logout,
  whoami,
  listen,
  trigger,
  events,
  resend,
  deliveries,
  replay,
  replays,
  endpoints,
];

const HELP = `usage: malipo COMMAND [options]
       malipo --version

For developers who build on Malipo: receive test webhooks on your own machine, trigger them, and see what was sent.

${table(
  ['command', ''],
  COMMANDS.map(({ name, summary }) => [name, summary]),
)
  .slice(1)
  .map((row) => `  ${row}`)
  .join('\n')}

Every command takes
  --base-url URL   the address of the service; default MALIPO_BASE_URL, then the service of your last log-in
  --json           results as JSON on stdout, and nothing else there
  --help           the help page of the command, with examples

Without a session, a command logs in with MALIPO_EMAIL, MALIPO_PASSWORD and, for a person with a second factor,
MALIPO_TOTP_SECRET (base32) or MALIPO_TOTP (a code). Without MALIPO_EMAIL it uses MALIPO_MAKER_EMAIL and so on of the demo.
Sessions are kept in malipo/config.json under XDG_CONFIG_HOME or ~/.config, where only you can read them.

exit codes: 0 done, 1 failed, 2 the command line is wrong, 3 not logged in or not allowed,
4 the service does not answer, 5 not done in time, 130 stopped by Ctrl-C
`;

export type Run = {
  readonly version: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly streams: Streams;
  readonly stop: AbortSignal;
};

/** Resolves with the exit code, after everything is printed. */
export async function runCli({ version, args, environment, streams, stop }: Run): Promise<number> {
  const terminal = createTerminal(streams, environment);
  const [name = '', ...rest] = args;
  const wrong = (problem: string): number => {
    terminal.say(`malipo: ${problem}\n\n${HELP.trimEnd()}`);
    return EXIT.usage;
  };
  if (name === '') return wrong('a command is missing');
  const isHelp = name === '--help' || name === '-h' || name === 'help';
  const [wanted, ...more] = isHelp ? rest : [name];
  if (wanted === undefined || name === '--version') {
    const [unexpected] = rest;
    if (unexpected !== undefined) return wrong(`${name} takes no arguments, but is followed by “${unexpected}”`);
    terminal.print(isHelp ? HELP.trimEnd() : version);
    return EXIT.ok;
  }
  const command = COMMANDS.find((each) => each.name === wanted);
  if (!command) return wrong(`there is no command “${wanted}”`);
  if (more.length > 0) return wrong(`${name} takes one command, but is followed by “${more.join(' ')}”`);
  if (isHelp) {
    terminal.print(command.help.trimEnd());
    return EXIT.ok;
  }
  try {
    return await runCommand(command, rest, { environment, terminal, config: openConfigFile(environment), stop });
  } catch (error) {
    return reportFailure(error, command, terminal, stop);
  }
}

async function runCommand(command: Command, args: readonly string[], context: Context): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    context.terminal.print(command.help.trimEnd());
    return EXIT.ok;
  }
  const running = command.run(parseCommandLine(command, args), context);
  if (command.endsByInterrupt) {
    await running;
    return EXIT.ok;
  }
  const interrupted = once(context.stop, 'abort').then(() => 'interrupted' as const);
  // After Ctrl-C the command ends with the process, so its later failure is ignored.
  running.catch(() => undefined);
  return (await Promise.race([running, interrupted])) === 'interrupted' ? EXIT.interrupted : EXIT.ok;
}

function reportFailure(error: unknown, command: Command, terminal: Terminal, stop: AbortSignal): number {
  if (stop.aborted) return EXIT.interrupted;
  if (error instanceof CliFailure) {
    const more = error.kind === 'usage' ? `\nmalipo ${command.name} --help shows how it is used` : '';
    terminal.say(`malipo: ${error.message}${more}`);
    return error.exitCode;
  }
  if (error instanceof ApiRefusal) {
    const { status, code, message, requestId } = error;
    terminal.say(`malipo: ${message} (${code}${requestId === null ? '' : `, ${requestId}`})`);
    if (status === 401 || status === 403) {
      terminal.say('malipo whoami shows your roles; what a command needs is on its help page');
      return EXIT.refused;
    }
    return status === 502 || status === 503 || status === 504 ? EXIT.unreachable : EXIT.failed;
  }
  throw error;
}

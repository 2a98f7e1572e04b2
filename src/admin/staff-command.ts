// How a command of the staff is declared: what it does, for its help page, which options it takes, what it needs, and who runs it.
import type { z } from 'zod';
import type { StaffMember, StaffName } from '../domain/accounts/staff.ts';
import type { StaffNeeds } from '../settings/config.ts';
import { openSecretPrompt, type SecretPrompt } from './secret-prompt.ts';
import { withServerDatabase, type ServerFor } from './server-database.ts';
import { askForLogIn } from './staff-credentials.ts';
import { readOptions } from './staff-options.ts';

export type StaffEnvironment = Readonly<Record<string, string | undefined>>;
/** What a command prints on standard output; without an exit code it is 0. */
export type StaffOutcome = { readonly text: string; readonly exitCode?: number };

export type StaffCommand = {
  /** What follows the name, for the first line of its help page. */
  readonly usage: string;
  readonly summary: string;
  readonly help: string;
  /** Which settings it cannot do without. */
  readonly needs: StaffNeeds | 'nothing';
  /** Throws a UsageError for options that it does not take, before anything is done. `name`: its own, for the audit log. */
  read(given: object, name: string): (environment: StaffEnvironment) => Promise<StaffOutcome>;
};

type Text = Pick<StaffCommand, 'usage' | 'summary' | 'help'>;

type Run<Options, Server> = {
  /** The options that it takes. */
  readonly takes: z.ZodType<Options>;
  readonly run: (options: Options, server: Server) => Promise<string>;
};

/** Commands that only read: everybody with the settings may run them. */
export function readsOn<Needs extends StaffNeeds>(needs: Needs) {
  return <Options>({ takes, run, ...text }: Text & Run<Options, ServerFor[Needs]>): StaffCommand => ({
    ...text,
    needs,
    read(given) {
      const read = readOptions(takes, given);
      return async (environment) => ({
        text: await withServerDatabase(environment, needs, (server) => run(read, server)),
      });
    },
  });
}

/** What an act gets: who of the staff logged in, and the prompt, which may ask for more. */
export type Acting<Server> = Server & { readonly by: StaffMember; readonly prompt: SecretPrompt };

type ActingNeeds = 'database and all keys' | 'database, all keys and operator keys';

/** Commands for each of which one of the staff logs in. `announce`: what they are shown before. */
export function actsOn<Needs extends ActingNeeds>(needs: Needs) {
  return <Options extends { readonly as: StaffName }>({
    takes,
    announce,
    run,
    ...text
  }: Text &
    Run<Options, Acting<ServerFor[Needs]>> & {
      readonly announce?: (options: Options, server: ServerFor[Needs]) => Promise<string>;
    }): StaffCommand => ({
    ...text,
    needs,
    read(given, name) {
      const read = readOptions(takes, given);
      const act = async (server: ServerFor[Needs]) => {
        if (announce) process.stderr.write(await announce(read, server));
        const prompt = openSecretPrompt();
        const by = await askForLogIn(read.as, name, { ...server, prompt });
        return run(read, { ...server, by, prompt });
      };
      return async (environment) => ({ text: await withServerDatabase(environment, needs, act) });
    },
  });
}

/** Commands by which people of the staff enrol, who cannot log in yet. */
export function enrolsOn<Needs extends ActingNeeds>(needs: Needs) {
  return <Options>(command: Text & Run<Options, ServerFor[Needs] & { readonly prompt: SecretPrompt }>): StaffCommand =>
    readsOn(needs)({
      ...command,
      run: (options: Options, server) => command.run(options, { ...server, prompt: openSecretPrompt() }),
    });
}

// `malipo whoami`: shows whose session the commands use, at which service, in which roles.
import type { Command, Context, CommandLine } from '../command.ts';
import { signIn, type SignedIn } from '../sign-in.ts';

const HELP = `usage: malipo whoami [--base-url URL] [--json]

Shows who is logged in, for which merchant, in which roles, and whether the service is a test or a live one.

An owner has all roles. A developer or admin adds endpoints, tests them and replays deliveries. A maker creates payments
(malipo trigger). An approver releases payouts. Every role can read (malipo events, deliveries, listen).
`;

export const whoami: Command = {
  name: 'whoami',
  summary: 'who is logged in, where, in which roles',
  help: HELP,
  options: {},
  positionals: [0, 0],
  async run(line, context) {
    printSession(await signIn(line, context), line, context);
  },
};

export function printSession({ api, session }: SignedIn, { isJson }: CommandLine, { terminal }: Context): void {
  if (isJson) {
    terminal.printJson({ base_url: api.baseUrl, ...session });
    return;
  }
  const { person, merchant, roles, environment } = session;
  terminal.print(`${person.name} <${person.email}> at ${api.baseUrl} (${environment})`);
  terminal.print(`for ${merchant.name} ${merchant.id} (${merchant.currency}), as ${roles.join(', ')}`);
}

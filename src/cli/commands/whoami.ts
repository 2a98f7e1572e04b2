// `malipo whoami`: shows whose session the commands use, at which service, in which roles.
import type { Command, Context, CommandLine } from '../command.ts';
import { signIn, type SignedIn } from '../sign-in.ts';

const HELP = `usage: malipo whoami [--base-url URL] [--json]

Shows who is logged in, for which merchant, in which roles, and whether the service is a test or a live one.

Roles, of which an owner has all: a developer or admin adds endpoints, tests them and replays; a maker makes payments
(malipo trigger); an approver releases payouts; everybody reads (malipo events, deliveries, listen).
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
    terminal.print(JSON.stringify({ base_url: api.baseUrl, ...session }));
    return;
  }
  const { person, merchant, roles, environment } = session;
  terminal.print(`${person.name} <${person.email}> at ${api.baseUrl} (${environment})`);
  terminal.print(`for ${merchant.name} ${merchant.id} (${merchant.currency}), as ${roles.join(', ')}`);
}

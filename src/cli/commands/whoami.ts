// `malipo whoami`: shows whose session the commands use, at which service, in which roles.
import { printResult, type Command, type Context, type CommandLine } from '../command.ts';
import { signIn, type SignedIn } from '../sign-in.ts';

const HELP = `usage: malipo whoami [--base-url URL] [--json]

Shows who is logged in, for which merchant, in which roles, and whether the service is a test or a live one.

An owner has all roles. A developer or admin adds endpoints, tests them and replays deliveries. A maker creates payments
(malipo trigger). An approver releases payouts. Every role can read (malipo events, deliveries, listen).
`;

export const whoami: Command = {
  name: 'whoami',
  summary: 'show who is logged in, where and in which roles',
  help: HELP,
  async run(line, context) {
    printSession(await signIn(line, context), line, context);
  },
};

export function printSession({ api, session }: SignedIn, line: CommandLine, context: Context): void {
  const { person, merchant, roles, environment } = session;
  const who = `${person.name} <${person.email}> at ${api.baseUrl} (${environment})`;
  const where = `for ${merchant.name} ${merchant.id} (${merchant.currency}), as ${roles.join(', ')}`;
  printResult(line, context, { base_url: api.baseUrl, ...session }, `${who}\n${where}`);
}

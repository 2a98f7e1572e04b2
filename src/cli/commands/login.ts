// `malipo login`: opens a session and stores it for later commands.
import type { Command, Context } from '../command.ts';
import { baseUrlOf, credentialsOf, environmentValue, logIn, type Credentials } from '../sign-in.ts';
import { printSession } from './whoami.ts';

const HELP = `usage: malipo login [--base-url URL] [--json]

Asks for e-mail address, password and one-time code, and keeps the session for the other commands, where only
you can read it. The password is not kept. The session ends after 12 hours without use, and after 7 days.

What is in the environment is not asked for: MALIPO_EMAIL, MALIPO_PASSWORD, MALIPO_TOTP_SECRET or MALIPO_TOTP, and
MALIPO_MERCHANT_ID for a person of several merchants. Nothing of it is taken as an option, where others could see it.

examples
  malipo login --base-url https://test.malipo.example
  (set -a; . var/demo.env; malipo login)  # the demo's maker
`;

export const login: Command = {
  name: 'login',
  summary: 'open a session and keep it',
  help: HELP,
  options: {},
  positionals: [0, 0],
  async run(line, context) {
    const baseUrl = baseUrlOf(line, context);
    const { environment } = context;
    const hasPassword = environmentValue(environment, 'MALIPO_PASSWORD') !== null;
    const isNamed = environmentValue(environment, 'MALIPO_EMAIL') !== null;
    const given = isNamed && !hasPassword ? null : (credentialsOf(environment) ?? credentialsOf(environment, 'MAKER_'));
    const credentials = given ?? (await askForCredentials(context, baseUrl));
    const signedIn = await logIn(credentials, baseUrl, context);
    context.config.change(baseUrl, (service, saved) => {
      service.current = credentials.email;
      saved.baseUrl = baseUrl;
    });
    printSession(signedIn, line, context);
  },
};

// Values in the environment are not asked for.
async function askForCredentials({ terminal, environment }: Context, baseUrl: string): Promise<Credentials> {
  const email = environmentValue(environment, 'MALIPO_EMAIL') ?? (await terminal.ask(`e-mail address at ${baseUrl}`));
  const password =
    environmentValue(environment, 'MALIPO_PASSWORD') ?? (await terminal.ask('password', { hidden: true }));
  const code = await terminal.ask('one-time code (Enter if you have none)');
  return {
    email: email.toLowerCase(),
    password,
    code: code === '' ? null : { typed: code.replaceAll(' ', '') },
    merchantId: environmentValue(environment, 'MALIPO_MERCHANT_ID'),
  };
}

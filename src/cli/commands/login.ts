// `malipo login`: opens a session and stores it for later commands.
import { TEXT, type Command, type Context } from '../command.ts';
import {
  baseUrlOf,
  credentialsOf,
  environmentValue,
  logIn,
  switchMerchant,
  type Credentials,
  type SignedIn,
} from '../sign-in.ts';
import { printSession } from './whoami.ts';

const HELP = `usage: malipo login [--merchant ID] [--base-url URL] [--json]

Asks for e-mail address, password and one-time code, and keeps the session for the other commands, where only
you can read it. The password is not kept. The session ends after 12 hours without use, and after 7 days.

The command does not ask for values in the environment: MALIPO_EMAIL, MALIPO_PASSWORD, MALIPO_TOTP_SECRET or MALIPO_TOTP. None of
these is an option, because others could see it there.

A person with several merchants chooses the merchant of the session. The commands act for that merchant until the next log-in.

  --merchant ID  the merchant, so that the command does not ask; same as MALIPO_MERCHANT_ID in the environment. Without either,
                 and with the password in the environment, it is the merchant that the person joined first

examples
  malipo login --base-url https://test.malipo.example
  malipo login --merchant mer_01j9z3k5m7n9p1q3r5s7t9v1w3
  (set -a; . var/demo.env; malipo login)  # the demo's maker
`;

export const login: Command = {
  name: 'login',
  summary: 'open a session and keep it',
  help: HELP,
  options: { merchant: TEXT },
  async run(line, context) {
    const baseUrl = baseUrlOf(line, context);
    const { environment } = context;
    const hasPassword = environmentValue(environment, 'MALIPO_PASSWORD') !== null;
    const isNamed = environmentValue(environment, 'MALIPO_EMAIL') !== null;
    const given = isNamed && !hasPassword ? null : (credentialsOf(environment) ?? credentialsOf(environment, 'MAKER_'));
    const person = given ?? (await askForCredentials(context, baseUrl));
    const credentials = { ...person, merchantId: line.text('merchant') ?? person.merchantId };
    const entered = await logIn(credentials, baseUrl, context);
    const isAsked = given === null && credentials.merchantId === null;
    const signedIn = isAsked ? await chooseMerchant(entered, context) : entered;
    context.config.change(baseUrl, (service, saved) => {
      service.current = credentials.email;
      saved.baseUrl = baseUrl;
    });
    printSession(signedIn, line, context);
  },
};

// Values in the environment are used without a question.
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

async function chooseMerchant(signedIn: SignedIn, { terminal }: Context): Promise<SignedIn> {
  const { merchants, merchant } = signedIn.session;
  if (merchants.length < 2) return signedIn;
  for (const [index, { id, name }] of merchants.entries()) terminal.say(`${index + 1}  ${name} ${id}`);
  for (;;) {
    const answer = await terminal.ask(`merchant, 1 to ${merchants.length}`);
    const chosen = /^[0-9]{1,4}$/.test(answer) ? merchants[Number(answer) - 1] : undefined;
    if (chosen) return chosen.id === merchant.id ? signedIn : switchMerchant(signedIn, chosen.id);
  }
}

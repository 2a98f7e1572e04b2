// Entry of `npm run merchant`: makes a merchant and invites its first owner, on the server's own configuration.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { loadConfig } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { CURRENCIES, type Currency } from '../domain/money.ts';
import { newToken } from '../domain/token.ts';
import { createMerchant } from '../operations/create-merchant.ts';

const HELP = `usage: npm run merchant -- create --name NAME --currency CODE --email ADDRESS

Makes a merchant and prints an invitation for its first owner. Who holds it becomes that owner: hand it to
them and to nobody else. It works once, for 7 days. Settings are those of the server, from the environment.

  --name NAME        1 to 200 characters
  --currency CODE    ${CURRENCIES.join(', ')}
  --email ADDRESS    the first owner's; nothing is sent to it
  --help             this page

exit codes: 0 made, 1 it could not be done, 2 the command is not as above
`;

/** The command is not as the help page says. */
class UsageError extends Error {}

const optionsSchema = z.object({
  name: z
    .string({ error: '--name is missing' })
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u, { error: '--name must be 1 to 200 printable characters' }),
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]], {
    error: (issue) =>
      issue.input === undefined ? '--currency is missing' : `--currency must be one of ${CURRENCIES.join(', ')}`,
  }),
  email: z
    .email({
      error: (issue) => (issue.input === undefined ? '--email is missing' : '--email must be an e-mail address'),
    })
    .max(254, { error: '--email must be an e-mail address' })
    .transform((text) => text.toLowerCase()),
});

type Command = { readonly kind: 'help' } | ({ readonly kind: 'create' } & z.output<typeof optionsSchema>);

function readCommand(args: string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help === true) return { kind: 'help' };
  if (positionals.length !== 1 || positionals[0] !== 'create') throw new UsageError('the one command there is: create');
  const parsed = optionsSchema.safeParse(values);
  if (!parsed.success) throw new UsageError(parsed.error.issues.map(({ message }) => message).join('\n'));
  return { kind: 'create', ...parsed.data };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { name: text, currency: text, email: text, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function create({ name, currency, email }: Extract<Command, { kind: 'create' }>): Promise<void> {
  const { settings } = loadConfig(process.env);
  const db = openDatabase({
    url: settings.MALIPO_DATABASE_URL.reveal(),
    poolSize: 1,
    statementTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    connectTimeoutMs: settings.MALIPO_DATABASE_TIMEOUT_MS,
    onIdleError: () => undefined,
  });
  try {
    const { token, sha256 } = newToken();
    const firstOwner = { email, tokenSha256: sha256 };
    const id = await createMerchant(db, { name, currency, firstOwner, at: new Date() });
    const baseUrl = settings.MALIPO_PUBLIC_URL.replace(/\/$/, '');
    process.stdout.write(`merchant    ${id}
invitation  ${token}
            for ${email}, as owner; it works once, for 7 days, and is not shown again

A person who is new here accepts it with a name and a password of 12 characters or more; others with the
password they have, and no name:

  curl -sS ${baseUrl}/v1/console/invitations/accept \\
    --data-urlencode 'token=${token}' --data-urlencode 'name=…' --data-urlencode 'password=…'
`);
  } finally {
    await db.close();
  }
}

try {
  const command = readCommand(process.argv.slice(2));
  if (command.kind === 'help') process.stdout.write(HELP);
  else await create(command);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    isUsage ? `${text}\n\n${HELP}` : `no merchant was made: ${text === '' ? 'the database does not answer' : text}\n`,
  );
  process.exitCode = isUsage ? 2 : 1;
}

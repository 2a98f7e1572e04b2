// The command line of `npm run merchant`: its help page, and how arguments become one of the staff commands.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { CURRENCIES, type Currency } from '../domain/money.ts';
import { settleOpenDiscrepancy, showDiscrepancies } from './discrepancy-commands.ts';
import {
  approveWaitingChange,
  createMerchantWithOwners,
  recoverPerson,
  showWaitingChanges,
} from './merchant-commands.ts';
import { showQuarantinedWork } from './work-commands.ts';

const HELP = `usage: npm run merchant -- create --name NAME --currency CODE --email ADDRESS [--email ADDRESS]
       npm run merchant -- waiting --merchant ID
       npm run merchant -- approve --merchant ID --change ID
       npm run merchant -- recover --email ADDRESS
       npm run merchant -- discrepancies
       npm run merchant -- settle --id NUMBER --how TEXT
       npm run merchant -- quarantined

create   makes a merchant and prints an invitation for each of its first owners, one or two. Who holds it becomes that
         owner: hand it to them and to nobody else. It works once, for 7 days.
         Name two, if there are two people. From then on nobody gets a part in moving money out unless two agree, also
         while the second has not come in yet; an only owner can let in a second self, and then move money alone.
waiting  shows what waits for a second owner or admin of a merchant.
approve  agrees to one of these in the place of a second person who is gone. Make sure first, by another way than the
         console, that it is what the merchant wants. Its audit log says that the service did it.
recover  prints a token with which a person who lost their password or second factor sets a new password. It works once,
         for 24 hours, and takes the second factor away and ends their sessions. Make sure first who they are.
discrepancies  shows what operators say otherwise of payments that have ended here, of all merchants, until it is settled.
settle   writes down how one of these was settled, with the operator and the merchant. It moves no money. The check of the
         ledger names it no more, and the merchant's audit log shows the words, and that the service wrote them.
quarantined  shows the payments and deliveries of all merchants whose workflow failed so often that it is tried once an
         hour. The log and the Temporal UI say why.

Settings are those of the server, from the environment.

  --name NAME        1 to 200 characters
  --currency CODE    ${CURRENCIES.join(', ')}
  --email ADDRESS    a person's; nothing is sent to it
  --merchant ID      mer_…
  --change ID        mch_… or inv_…, as waiting shows it
  --id NUMBER        as discrepancies shows it
  --how TEXT         1 to 500 characters, for the merchant to read
  --help             this page

exit codes: 0 done, 1 it could not be done, 2 the command is not as above
`;

/** The arguments are not as the help page says. */
class UsageError extends Error {}

const email = z
  .email({ error: '--email must be an e-mail address' })
  .max(254, { error: '--email must be an e-mail address' })
  .transform((text) => text.toLowerCase());

function id(option: string, prefixes: string) {
  const form = new RegExp(`^(?:${prefixes})_[0-7][0-9a-hjkmnp-tv-z]{25}$`);
  return z.string({ error: `--${option} is missing` }).regex(form, { error: `--${option} must be an id as shown` });
}

const merchant = id('merchant', 'mer');

const createSchema = z.strictObject({
  name: z
    .string({ error: '--name is missing' })
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u, { error: '--name must be 1 to 200 printable characters' }),
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]], {
    error: (issue) =>
      issue.input === undefined ? '--currency is missing' : `--currency must be one of ${CURRENCIES.join(', ')}`,
  }),
  email: z
    .array(email, { error: '--email is missing' })
    .max(2, { error: '--email can be given twice at the most' })
    .refine((list) => new Set(list).size === list.length, { error: '--email must name two people, not one twice' }),
});
const waitingSchema = z.strictObject({ merchant });
const approveSchema = z.strictObject({ merchant, change: id('change', 'mch|inv') });
const discrepanciesSchema = z.strictObject({});
const quarantinedSchema = z.strictObject({});
const settleSchema = z.strictObject({
  id: z
    .string({ error: '--id is missing' })
    .regex(/^[1-9][0-9]{0,17}$/, { error: '--id must be a number as discrepancies shows it' }),
  how: z
    .string({ error: '--how is missing' })
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,500}$/u, { error: '--how must be 1 to 500 printable characters' }),
});
const recoverSchema = z.strictObject({
  email: z
    .array(email, { error: '--email is missing' })
    .max(1, { error: '--email can be given once' })
    .transform((list) => list[0] ?? ''),
});

function readCommand(args: string[]): () => Promise<string> {
  const { values, positionals } = parse(args);
  const { help, ...options } = values;
  if (help === true) return () => Promise.resolve(HELP);
  const [command, ...rest] = positionals;
  if (rest.length === 0) {
    if (command === 'create') return withOptions(createSchema, options, createMerchantWithOwners);
    if (command === 'waiting') return withOptions(waitingSchema, options, showWaitingChanges);
    if (command === 'approve') return withOptions(approveSchema, options, approveWaitingChange);
    if (command === 'recover') return withOptions(recoverSchema, options, recoverPerson);
    if (command === 'discrepancies') return withOptions(discrepanciesSchema, options, showDiscrepancies);
    if (command === 'settle') return withOptions(settleSchema, options, settleOpenDiscrepancy);
    if (command === 'quarantined') return withOptions(quarantinedSchema, options, showQuarantinedWork);
  }
  throw new UsageError('the commands there are: create, waiting, approve, recover, discrepancies, settle, quarantined');
}

function withOptions<Options>(
  schema: z.ZodType<Options>,
  given: object,
  run: (options: Options) => Promise<string>,
): () => Promise<string> {
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw new UsageError(parsed.error.issues.map(textOf).join('\n'));
  return () => run(parsed.data);
}

function textOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  return `this command does not take ${issue.keys.map((key) => `--${key}`).join(', ')}`;
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    name: text,
    currency: text,
    email: { type: 'string', multiple: true },
    merchant: text,
    change: text,
    id: text,
    how: text,
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Runs the command, prints its text or the error, and returns the exit code that the help page names. */
export async function runMerchantCommand(args: string[]): Promise<number> {
  try {
    process.stdout.write(await readCommand(args)());
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(
      isUsage ? `${text}\n\n${HELP}` : `nothing was done: ${text === '' ? 'the database does not answer' : text}\n`,
    );
    return isUsage ? 2 : 1;
  }
}

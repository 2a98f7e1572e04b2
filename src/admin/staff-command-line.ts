// The command line of `npm run staff`: its help page, and how arguments become one of the staff commands.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { AuditChainName } from '../domain/accounts/audit-chain.ts';
import { parseStaff } from '../domain/accounts/staff.ts';
import { CURRENCIES, type Currency } from '../domain/money.ts';
import { attestAllRows, AttestationFault } from './attestation-commands.ts';
import { AuditFault, exportAuditLog, verifyAuditLogs } from './audit-commands.ts';
import { settleOpenDiscrepancy, showDiscrepancies } from './discrepancy-commands.ts';
import { approveWaitingChange, createMerchantWithOwners, showWaitingChanges } from './merchant-commands.ts';
import { exportDataAbout } from './personal-data-command.ts';
import { approvePersonsRecovery, requestPersonsRecovery, showRecoveries } from './recovery-commands.ts';
import { rebuildMerchantTotals } from './totals-command.ts';
import { showQuarantinedWork } from './work-commands.ts';

const HELP = `usage: npm run staff -- create --name NAME --currency CODE --email ADDRESS [--email ADDRESS] --staff NAME
       npm run staff -- waiting --merchant ID
       npm run staff -- approve --merchant ID --change ID --staff NAME
       npm run staff -- recover --email ADDRESS --reason TEXT --staff NAME
       npm run staff -- recoveries
       npm run staff -- approve-recovery --recovery ID --staff NAME
       npm run staff -- discrepancies
       npm run staff -- settle --id NUMBER --how TEXT --staff NAME
       npm run staff -- quarantined
       npm run staff -- rebuild-totals --merchant ID
       npm run staff -- personal-data --phone NUMBER|--email ADDRESS --staff NAME
       npm run staff -- audit verify [--merchant ID|service] [--head POSITION:HASH]…
       npm run staff -- audit export --merchant ID|service [--after POSITION]
       npm run staff -- attestations verify
       npm run staff -- attestations renew --staff NAME
       npm run staff -- attestations adopt --staff NAME

create   makes a merchant and prints an invitation for each of its first owners, one or two. Who holds it becomes that
         owner: hand it to them and to nobody else. It works once, for 7 days.
         Name two, if there are two people. From then on nobody gets a part in moving money out unless two agree, also
         while the second has not come in yet; an only owner can let in a second self, and then move money alone.
waiting  shows what waits for a second owner or admin of a merchant.
approve  agrees to one of these in the place of a second person who is gone. Make sure first, by another way than the
         console, that it is what the merchant wants. Its audit log says which of the staff did it.
recover  requests that a person who lost their password or second factor is let in again. Make sure first who they are.
         It opens nothing by itself: another one of the staff must approve it within 24 hours.
recoveries  shows the requests that wait for a second one of the staff, with who made them and why.
approve-recovery  approves one of these, for another one of the staff than the one who requested it, and prints a token
         with which the person sets a new password. It works once, for 24 hours. Its use takes the second factor away
         and ends their sessions. The owners of the person's merchants see all of it when they log in, and who it was.
discrepancies  shows what operators say otherwise of payments that have ended here, of all merchants, until it is settled.
settle   writes down how one of these was settled, with the operator and the merchant. It moves no money. The check of the
         ledger names it no more, and the merchant's audit log shows the words, and which of the staff wrote them.
quarantined  shows the payments and deliveries of all merchants whose workflow failed so often that it is tried once an
         hour. The log and the Temporal UI say why.
rebuild-totals  counts the payments of a merchant again, for the totals that its console shows. Payments go on meanwhile.
personal-data  prints what is stored about a phone number or a person, at all merchants, as JSON lines. The audit log of each
         merchant concerned says that it was done, and by whom of the staff.
audit verify  recomputes the hash chain of one audit log, or of all, and checks the heads that were signed each day. It fails
         when an entry was changed, removed or added by hand. --head gives a head that was kept elsewhere: the server's log has
         one a day for each merchant.
audit export  prints an audit log as JSON lines. Each line has the SHA-256 of the line of the entry before it.
attestations verify  names the rows that say who may do what (people, members, keys, policies, proposals) and that no process of
         the service wrote as they are. They count for nothing: restore them from a backup.
attestations renew  attests them with the first of MALIPO_ATTESTATION_KEYS, so that the others can be removed.
attestations adopt  attests those, too, that have no attestation, because they are older than attestations. Do it once, right
         after that update: you vouch that nobody wrote one of them by hand.

Settings are those of the server, from the environment.

  --name NAME        1 to 200 characters
  --currency CODE    ${CURRENCIES.join(', ')}
  --email ADDRESS    a person's; nothing is sent to it
  --merchant ID      mer_…
  --change ID        mch_… or inv_…, as waiting shows it
  --id NUMBER        as discrepancies shows it
  --how TEXT         1 to 500 characters, for the merchant to read
  --head P:HASH      with --merchant: an entry's position in its log, and its hash
  --after POSITION   only what comes after this entry
  --phone NUMBER     8 to 15 digits, country code first
  --reason TEXT      1 to 500 characters, for the service's staff alone: how you know who the person is, and what they lost
  --recovery ID      rcv_…, as recoveries shows it
  --staff NAME       who you are: your own name or address here, always the same one. Every act is recorded under it
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

// What concerns no merchant is in a log of its own.
const auditedMerchant = z.union([merchant, z.literal('service')], {
  error: (issue) =>
    issue.input === undefined ? '--merchant is missing' : '--merchant must be an id as shown, or service',
});
const POSITION = '[1-9][0-9]{0,14}';
const head = z
  .string()
  .regex(new RegExp(`^${POSITION}:[0-9a-f]{64}$`), {
    error: '--head must be as the log shows it: a number, a colon, a hash',
  })
  .transform((text) => {
    const [position = '', hash = ''] = text.split(':');
    return { position: BigInt(position), hash: Buffer.from(hash, 'hex') };
  });
const auditVerifySchema = z
  .strictObject({ merchant: auditedMerchant.optional(), head: z.array(head).default([]) })
  .refine((options) => options.head.length === 0 || options.merchant !== undefined, {
    error: '--head needs --merchant',
  })
  .transform(({ merchant: of = null, head: kept }) => ({ merchant: of as AuditChainName | null, head: kept }));
const auditExportSchema = z.strictObject({
  merchant: auditedMerchant.transform((of) => of as AuditChainName),
  after: z
    .string()
    .regex(new RegExp(`^(?:0|${POSITION})$`), { error: '--after must be a number' })
    .default('0')
    .transform(BigInt),
});

const staff = z.string({ error: '--staff is missing' }).transform((text, context) => {
  const name = parseStaff(text);
  if (name !== null) return name;
  context.addIssue({ code: 'custom', message: '--staff must be a name of 2 to 100 letters, digits and . _ @ + -' });
  return z.NEVER;
});

function words(option: string) {
  return z.string({ error: `--${option} is missing` }).regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,500}$/u, {
    error: `--${option} must be 1 to 500 printable characters`,
  });
}

const createSchema = z.strictObject({
  staff,
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
const approveSchema = z.strictObject({ merchant, change: id('change', 'mch|inv'), staff });
const nothing = z.strictObject({});
const staffSchema = z.strictObject({ staff });
const settleSchema = z.strictObject({
  id: z
    .string({ error: '--id is missing' })
    .regex(/^[1-9][0-9]{0,17}$/, { error: '--id must be a number as discrepancies shows it' }),
  how: words('how'),
  staff,
});
const recoverSchema = z.strictObject({
  email: z
    .array(email, { error: '--email is missing' })
    .max(1, { error: '--email can be given once' })
    .transform((list) => list[0] ?? ''),
  reason: words('reason'),
  staff,
});
const approveRecoverySchema = z.strictObject({ recovery: id('recovery', 'rcv'), staff });

function readCommand(args: string[]): () => Promise<string> {
  const { values, positionals } = parse(args);
  const { help, ...options } = values;
  if (help === true) return () => Promise.resolve(HELP);
  const [command = '', ...rest] = positionals;
  const name = ['audit', 'attestations'].includes(command) ? `${command} ${rest.shift() ?? ''}` : command;
  const read = rest.length === 0 && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (read) return read(options);
  throw new UsageError(`the commands there are: ${Object.keys(COMMANDS).join(', ')}`);
}

const personalDataSchema = z
  .strictObject({
    phone: z
      .string()
      .regex(/^[1-9][0-9]{7,14}$/, { error: '--phone must be 8 to 15 digits, country code first' })
      .optional(),
    email: z.array(email).max(1, { error: '--email can be given once' }).optional(),
    staff,
  })
  .transform(({ phone, email: [address] = [], staff: by }, context) => {
    if (phone !== undefined && address === undefined) return { of: { phone }, staff: by };
    if (phone === undefined && address !== undefined) return { of: { email: address }, staff: by };
    context.addIssue({ code: 'custom', message: 'give either --phone or --email' });
    return z.NEVER;
  });

// Those that act name who of the staff does: every schema of theirs has `staff`.
const COMMANDS: Readonly<Record<string, (options: object) => () => Promise<string>>> = {
  create: (options) => withOptions(createSchema, options, createMerchantWithOwners),
  waiting: (options) => withOptions(waitingSchema, options, showWaitingChanges),
  approve: (options) => withOptions(approveSchema, options, approveWaitingChange),
  recover: (options) => withOptions(recoverSchema, options, requestPersonsRecovery),
  recoveries: (options) => withOptions(nothing, options, showRecoveries),
  'approve-recovery': (options) => withOptions(approveRecoverySchema, options, approvePersonsRecovery),
  discrepancies: (options) => withOptions(nothing, options, showDiscrepancies),
  settle: (options) => withOptions(settleSchema, options, settleOpenDiscrepancy),
  quarantined: (options) => withOptions(nothing, options, showQuarantinedWork),
  'rebuild-totals': (options) => withOptions(waitingSchema, options, rebuildMerchantTotals),
  'personal-data': (options) => withOptions(personalDataSchema, options, exportDataAbout),
  'attestations verify': (options) => withOptions(nothing, options, () => attestAllRows('verify', { staff: null })),
  'attestations renew': (options) => withOptions(staffSchema, options, (by) => attestAllRows('renew', by)),
  'attestations adopt': (options) => withOptions(staffSchema, options, (by) => attestAllRows('adopt', by)),
  'audit verify': (options) => withOptions(auditVerifySchema, options, verifyAuditLogs),
  'audit export': (options) => withOptions(auditExportSchema, options, exportAuditLog),
};

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
    head: { type: 'string', multiple: true },
    after: text,
    phone: text,
    reason: text,
    recovery: text,
    staff: text,
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Runs the command, prints its text or the error, and returns the exit code that the help page names. */
export async function runStaffCommand(args: string[]): Promise<number> {
  try {
    process.stdout.write(await readCommand(args)());
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof AuditFault || error instanceof AttestationFault) {
      process.stderr.write(`${text}\n`);
      return 1;
    }
    process.stderr.write(
      isUsage ? `${text}\n\n${HELP}` : `nothing was done: ${text === '' ? 'the database does not answer' : text}\n`,
    );
    return isUsage ? 2 : 1;
  }
}

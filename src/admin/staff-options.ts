// The options of the staff's commands: how each is written, and how it is read.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { z } from 'zod';
import type { AuditChainName } from '../domain/accounts/audit-chain.ts';
import { parseStaffName, type StaffName } from '../domain/accounts/staff.ts';
import { CURRENCIES, type Currency } from '../domain/money.ts';
import { PRODUCTS } from '../domain/payments/breaker.ts';
import { OPERATOR_IDS } from '../domain/payments/operator-catalogue.ts';
import { isVisibleLine } from '../domain/visible-text.ts';

/** The arguments are not as the help page says. */
export class UsageError extends Error {}

/** Each option as help pages show it. */
export const OPTIONS: Readonly<Record<string, readonly [value: string, text: string]>> = {
  name: ['NAME', 'of a merchant 1 to 200 characters; of one of the staff 2 to 100 letters, digits and . _ @ + -'],
  currency: ['CODE', CURRENCIES.join(', ')],
  email: ['ADDRESS', 'the address of a person; nothing is sent to it'],
  merchant: ['ID', 'mer_…'],
  change: ['ID', 'mch_… or inv_…, as shown by waiting'],
  id: ['NUMBER', 'as shown by discrepancies'],
  how: ['TEXT', '1 to 500 characters, for the merchant to read'],
  head: ['P:HASH', 'with --merchant: an entry’s position in its log, and its hash'],
  after: ['PLACE', 'only entries after this one: an id as shown by merchants, or a position in an audit log'],
  phone: ['NUMBER', '8 to 15 digits, country code first'],
  reason: [
    'TEXT',
    '1 to 500 characters, for the staff alone: of a person’s recovery, how you know who they are, and what they lost; of the service’s, ' +
      'what you compared, and which risk you accept',
  ],
  proposal: ['ID', 'spr_…, as shown by proposals'],
  operator: ['ID', OPERATOR_IDS.join(', ')],
  account: ['ID', 'opa_…, as shown by account list'],
  country: ['CODE', 'of two letters; of a test system that serves every market: all'],
  'base-url': ['ADDRESS', 'of the operator’s API, without a path that it gives itself'],
  'calls-per-second': ['NUMBER', 'the calls of all processes together, by the contract'],
  product: ['NAME', 'collection, or disbursement for payouts and refunds'],
  as: ['NAME', 'who of the staff you are. You log in: the command asks for your password and one-time code'],
};

const MULTIPLE = ['email', 'head', 'name'];

export function parseOptions(args: readonly string[]) {
  const options: ParseArgsConfig['options'] = { help: { type: 'boolean', short: 'h' } };
  for (const name of Object.keys(OPTIONS)) options[name] = { type: 'string', multiple: MULTIPLE.includes(name) };
  try {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const { help, ...given } = values;
    return { isHelp: help === true, options: given, words: positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Throws a UsageError with every fault. */
export function readOptions<Options>(schema: z.ZodType<Options>, given: object): Options {
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw new UsageError(parsed.error.issues.map(textOf).join('\n'));
  return parsed.data;
}

function textOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  return `this command does not take ${issue.keys.map((key) => `--${key}`).join(', ')}`;
}

const email = z
  .email({ error: '--email must be an e-mail address' })
  .max(254, { error: '--email must be an e-mail address' })
  .transform((text) => text.toLowerCase());

function id(option: string, prefixes: string) {
  const form = new RegExp(`^(?:${prefixes})_[0-7][0-9a-hjkmnp-tv-z]{25}$`);
  return z
    .string({ error: `--${option} is missing` })
    .regex(form, { error: `--${option} must be an id, as shown by the commands` });
}

const merchant = id('merchant', 'mer');

// What concerns no merchant is in a log of its own.
const auditedMerchant = z.union([merchant, z.literal('service')], {
  error: (issue) =>
    issue.input === undefined
      ? '--merchant is missing'
      : '--merchant must be an id, as shown by the commands, or service',
});
const POSITION = '[1-9][0-9]{0,14}';
const head = z
  .string()
  .regex(new RegExp(`^${POSITION}:[0-9a-f]{64}$`), {
    error: '--head must be a number, a colon and a hash, as in the log',
  })
  .transform((text) => {
    const [position = '', hash = ''] = text.split(':');
    return { position: BigInt(position), hash: Buffer.from(hash, 'hex') };
  });

function staffName(option: string) {
  return z.string({ error: `--${option} is missing` }).transform((text, context) => {
    const name = parseStaffName(text);
    if (name !== null) return name;
    const message = `--${option} must be a name of 2 to 100 letters, digits and . _ @ + -`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** Of an option that can be given once, although another command takes it several times. */
function once<Value>(option: string, one: z.ZodType<Value>) {
  return z
    .array(one, { error: `--${option} is missing` })
    .max(1, { error: `--${option} can be given once` })
    .transform((list) => list[0] as Value);
}

const as = staffName('as');

function words(option: string, max: number) {
  return z.string({ error: `--${option} is missing` }).refine((text) => isVisibleLine(text, max) && /\S/.test(text), {
    error: `--${option} must be 1 to ${max} printable characters`,
  });
}

const name = once('name', words('name', 200));

export const nothing = z.strictObject({});
export const asAlone = z.strictObject({ as });
export const actOnMerchant = z.strictObject({ as, merchant });
export const anyMerchant = z.strictObject({ merchant: merchant.optional() });
export const merchantList = z.strictObject({ name: name.optional(), after: id('after', 'mer').optional() });
export const newMerchant = z.strictObject({
  as,
  name,
  currency: z.enum(CURRENCIES as [Currency, ...Currency[]], {
    error: (issue) =>
      issue.input === undefined ? '--currency is missing' : `--currency must be one of ${CURRENCIES.join(', ')}`,
  }),
  email: z
    .array(email, { error: '--email is missing' })
    .max(2, { error: '--email can be given at most twice' })
    .refine((list) => new Set(list).size === list.length, { error: '--email must name two people, not one twice' }),
});
export const waitingChange = z.strictObject({ merchant, change: id('change', 'mch|inv'), as });
export const settledDiscrepancy = z.strictObject({
  id: z
    .string({ error: '--id is missing' })
    .regex(/^[1-9][0-9]{0,17}$/, { error: '--id must be a number, as shown by discrepancies' }),
  how: words('how', 500),
  as,
});
export const lostPerson = z.strictObject({
  email: once('email', email),
  reason: words('reason', 500),
  as,
});
export const openedRecovery = z.strictObject({ reason: words('reason', 500), as });
export const firstStaff = z.strictObject({
  name: z
    .array(staffName('name'), { error: '--name is missing' })
    .refine((list) => list.length === 2 && list[0] !== list[1], { error: '--name must name two people, each once' })
    .transform(([one, other]) => [one, other] as [StaffName, StaffName]),
});
export const enrolledStaff = z.strictObject({ name: once('name', staffName('name')) });
export const namedStaff = z.strictObject({ name: once('name', staffName('name')), as });
export const decidedProposal = z.strictObject({ proposal: id('proposal', 'spr'), as });
const operator = z.enum(OPERATOR_IDS, { error: `--operator must be one of ${OPERATOR_IDS.join(', ')}` });
const breaker = {
  operator,
  product: z.enum(PRODUCTS, { error: `--product must be one of ${PRODUCTS.join(', ')}` }),
  as,
};
export const closedBreaker = z.strictObject(breaker);
export const openedBreaker = z.strictObject({ ...breaker, reason: words('reason', 500) });
const baseUrl = words('base-url', 500);
const callsPerSecond = z
  .string({ error: '--calls-per-second is missing' })
  .regex(/^[1-9][0-9]{0,5}$/, { error: '--calls-per-second must be a number from 1 on' })
  .transform(Number);
export const newAccount = z.strictObject({
  operator,
  country: z
    .string({ error: '--country is missing' })
    .regex(/^([A-Z]{2}|all)$/, { error: '--country must be two capital letters, or all' })
    .transform((text) => (text === 'all' ? null : text)),
  'base-url': baseUrl,
  'calls-per-second': callsPerSecond,
  as,
});
export const rotatedAccount = z.strictObject({
  account: id('account', 'opa'),
  'base-url': baseUrl.optional(),
  'calls-per-second': callsPerSecond.optional(),
  as,
});
export const closedAccount = z.strictObject({ account: id('account', 'opa'), as });
export const personOrPhone = z
  .strictObject({
    phone: z
      .string()
      .regex(/^[1-9][0-9]{7,14}$/, { error: '--phone must be 8 to 15 digits, country code first' })
      .optional(),
    email: z.array(email).max(1, { error: '--email can be given once' }).optional(),
    as,
  })
  .transform(({ phone, email: [address] = [], as }, context) => {
    if (phone !== undefined && address === undefined) return { subject: { phone }, as };
    if (phone === undefined && address !== undefined) return { subject: { email: address }, as };
    context.addIssue({ code: 'custom', message: 'give either --phone or --email' });
    return z.NEVER;
  });
export const auditHeads = z
  .strictObject({ merchant: auditedMerchant.optional(), head: z.array(head).default([]) })
  .refine((options) => options.head.length === 0 || options.merchant !== undefined, {
    error: '--head needs --merchant',
  })
  .transform(({ merchant: of = null, head: kept }) => ({ merchant: of as AuditChainName | null, head: kept }));
export const auditPlace = z.strictObject({
  merchant: auditedMerchant.transform((of) => of as AuditChainName),
  after: z
    .string()
    .regex(new RegExp(`^(?:0|${POSITION})$`), { error: '--after must be a number' })
    .default('0')
    .transform(BigInt),
});

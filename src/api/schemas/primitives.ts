// The building blocks of request and response schemas.
import { z } from 'zod';
import { MAX_AMOUNT_MINOR } from '../../domain/money.ts';
import { invalidPhone, parsePhone, PHONE_FORM } from '../../domain/payments/phone.ts';
import { hasAtMost, isVisibleLine, refusedCharacterClass } from '../../domain/visible-text.ts';

// As in the document: characters of the Basic Multilingual Plane. Invisible characters of other planes are refused too.
const VISIBLE_LINE = `^[^${refusedCharacterClass()}]*$`;

/** An object with exactly these fields, under its own name in the document. */
export function objectSchema<Fields extends z.ZodRawShape>(id: string, fields: Fields) {
  return z.strictObject(fields).meta({ id });
}

/** The error for a value of another type; no error for a missing value. */
export function unlessMissing(message: string) {
  return ({ input }: { readonly input?: unknown }) => (input === undefined ? undefined : message);
}

/** A list that names each of its entries once, and at least one. `entry`: the noun of one entry. */
export function choiceOf<Item extends z.ZodType>(name: string, item: Item, entry: string) {
  return z
    .array(item, { error: unlessMissing(`${name} must be a list of ${entry}s.`) })
    .min(1, { error: `${name} must name at least one ${entry}.` })
    .refine((list) => new Set(list).size === list.length, { error: `${name} must name each ${entry} once.` });
}

/** A number of seconds from 0 to this many milliseconds. */
export function secondsUpTo(name: string, maxMs: number) {
  const max = maxMs / 1000;
  const error = `${name} must be a whole number of seconds from 0 to ${max}.`;
  return z.int({ error }).min(0, { error }).max(max, { error }).default(0);
}

/** Text on one line that shows all its characters: none is invisible or bidirectional, and not all are spaces. */
export function printable(name: string, max: number) {
  return z
    .string({ error: unlessMissing(`${name} must be text.`) })
    .refine((text) => isVisibleLine(text, max) && /\S/.test(text), {
      error: `${name} must be 1 to ${max} printable characters.`,
    })
    .meta({ minLength: 1, maxLength: max, pattern: VISIBLE_LINE, allOf: [{ pattern: '\\S' }] });
}

const TIME_EXAMPLE = '2026-01-31T12:00:00.000Z';
// With the length of each month, because the document has only this pattern.
const INSTANT = z.regexes.datetime({ offset: true }).source;

export const amount = z.int({ error: amountMessage }).min(1, { error: amountMessage }).meta({
  description:
    'In the smallest unit of the currency, within the operator’s bounds, and a multiple of the operator’s step.',
  example: 5000,
});

function amountMessage(issue: { readonly input?: unknown; readonly code?: string }): string | undefined {
  if (issue.input === undefined) return undefined;
  if (issue.code === 'too_small') return 'amount must be 1 or more.';
  // The largest integer that a JSON number carries without loss.
  if (issue.code === 'too_big') return `amount must be ${MAX_AMOUNT_MINOR} or less.`;
  return 'amount must be a whole number in the smallest unit of the currency.';
}

export const phone = z
  .string({ error: unlessMissing(`phone must be text: ${PHONE_FORM}.`) })
  .refine((text) => parsePhone(text) !== null, { error: ({ input }) => invalidPhone(String(input)) })
  .meta({ description: `Mobile number: ${PHONE_FORM}.`, example: '256772123456', pattern: '^[1-9][0-9]{7,14}$' });

export const metadata = z
  .record(
    z
      .string()
      .refine((key) => isVisibleLine(key, 40), { error: 'A metadata key must be 1 to 40 printable characters.' })
      .meta({ minLength: 1, maxLength: 40, pattern: VISIBLE_LINE }),
    z
      .string({ error: 'A metadata value must be text.' })
      .refine((value) => hasAtMost(value, 500) && !/[\0\p{Cs}]/u.test(value), {
        error: 'A metadata value must be text of at most 500 characters.',
      })
      .meta({ maxLength: 500, pattern: '^[^\\u0000]*$' }),
    { error: 'metadata must be an object of text values.' },
  )
  .refine((pairs) => Object.keys(pairs).length <= 20, { error: 'metadata can hold at most 20 pairs.' })
  .meta({ description: 'Up to 20 pairs of your own, echoed back.', example: { order: '1042' }, maxProperties: 20 });

export const noParameters = z.strictObject({});

const DATE_TIME = z.iso.datetime({ offset: true });
// In a query an unescaped `+` means a space.
const LOST_PLUS = / [0-9]{2}:[0-9]{2}$/;

function instantMessage(name: string, input: unknown): string {
  const form = `${name} must be a time as RFC 3339, for example ${TIME_EXAMPLE}`;
  const isPlusLost = typeof input === 'string' && LOST_PLUS.test(input) && isInstant(input.replace(LOST_PLUS, 'Z'));
  return isPlusLost ? `${form}. In an address, write the + before its offset as %2B.` : `${form}.`;
}

/** RFC 3339 allows lower-case letters too. */
function isInstant(text: string): boolean {
  return DATE_TIME.safeParse(text.toUpperCase()).success;
}

type InDocument = { jsonSchema: z.core.JSONSchema.BaseSchema };

/**
 * Documents the texts of a request by a pattern alone. Generated clients give a value with a format its own type: a
 * pattern beside the format does not fit that type, and some clients write such a value into a query in another form.
 */
export function patternAlone(pattern: string): (context: InDocument) => void {
  return ({ jsonSchema }) => {
    delete jsonSchema.format;
    Object.assign(jsonSchema, { type: 'string', pattern });
  };
}

/** As `patternAlone`, by the format: for texts in responses, and for texts that no pattern describes. */
export function formatAlone({ jsonSchema }: InDocument): void {
  delete jsonSchema.pattern;
}

/** An instant as RFC 3339 with a zone. Rounded up to milliseconds, so that bounds include nothing earlier. */
export function instant(name: string) {
  return z
    .string({ error: ({ input }) => (input === undefined ? undefined : instantMessage(name, input)) })
    .refine(isInstant, { error: ({ input }) => instantMessage(name, input) })
    .transform((text) => new Date(Date.parse(text.toUpperCase()) + (/\.[0-9]{3}0*[1-9]/.test(text) ? 1 : 0)))
    .meta({ example: TIME_EXAMPLE, override: patternAlone(INSTANT) });
}

export const time = z.iso.datetime().meta({
  description: 'RFC 3339, UTC, milliseconds.',
  example: TIME_EXAMPLE,
  override: formatAlone,
});

/** Proves that a request in a session comes from our own pages: another site cannot set the header. */
export function consoleHeader(isRequired: boolean) {
  const description =
    '`1`, required with the `Origin` of this service for every request in a session that changes something.';
  // With a key the header has no meaning, whatever its value.
  const marker = isRequired ? z.enum(['1']) : z.string().optional();
  return z.object({ 'Malipo-Console': marker.meta({ description, example: '1' }) });
}

export const userAgentHeader = z.object({
  'User-Agent': z.string().optional().meta({
    description: 'The name of the client, which people see in the list of their sessions.',
    example: 'shop/1.0',
  }),
});

export const idempotencyKeyHeader = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/)
    .meta({
      description: 'A new key for each payment, the same key for each retry of the payment. Kept for 30 days.',
      example: 'order-1042',
    }),
});

export function idOf(prefix: string) {
  const { pattern, example } = idForm(prefix);
  return z.string().regex(new RegExp(pattern)).meta({ example });
}

export function idForm(prefix: string) {
  return { pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, example: `${prefix}_01j9z3k5m7n9p1q3r5s7t9v1w3` };
}

export function pathId(prefix: string) {
  return z.object({ id: idOf(prefix) });
}

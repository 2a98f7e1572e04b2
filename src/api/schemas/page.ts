// The pages of every list on the wire: the query for a page, and its body.
import { z } from 'zod';
import { isId } from '../../domain/ids.ts';
import { definedFields, type CodesByParameter } from '../validation.ts';
import { idForm, instant } from './primitives.ts';

const CURSOR_FORM = '^[A-Za-z0-9_-]+$';
const EXAMPLE_KEYS = [
  ...['col', 'pay', 'rev', 'evt', 'dlv', 'whe', 'key', 'rpl', 'req', 'chk'].map(
    (prefix) => `${prefix}_01j9z3k5m7n9p1q3r5s7t9v1w3`,
  ),
  '1042',
];
const LIMIT_MESSAGE = 'limit must be a whole number from 1 to 100.';

/** The query of a list whose items have keys that pass `isKey`. A cursor is opaque and holds the last key of a page. */
export function pageQuery<Key extends string>(isKey: (text: string) => text is Key) {
  const read = (text: string): Key | undefined => {
    const key = Buffer.from(text, 'base64url').toString('latin1');
    return isKey(key) && writeCursor(key) === text ? key : undefined;
  };
  return z.strictObject({
    limit: z
      .string()
      .refine((text) => /^[0-9]{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100, { error: LIMIT_MESSAGE })
      .transform(Number)
      .default(20)
      .meta({ description: '1 to 100.', override: { type: 'integer', minimum: 1, maximum: 100, default: 20 } }),
    cursor: z
      .string()
      .refine((text) => read(text) !== undefined, {
        error: 'This cursor is invalid. Start again without a cursor.',
      })
      .transform(read)
      .optional()
      .meta({
        description: '`next_cursor` of the previous page.',
        pattern: CURSOR_FORM,
        example: writeCursor(EXAMPLE_KEYS.find(isKey) ?? ''),
      }),
  });
}

export const PAGE_CODES: CodesByParameter = { cursor: { any: 'cursor_invalid' } };

export function pageSchema(item: z.ZodType, id: string) {
  return z
    .strictObject({
      data: z.array(item),
      has_more: z.boolean(),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'Send it as `cursor` for the next page.', example: writeCursor(EXAMPLE_KEYS[0] ?? '') }),
    })
    .meta({ id });
}

/** The list part of a route: the query for a page, and the page. */
export function onePage<Query extends z.ZodObject>(query: Query, schema: z.ZodType) {
  return { query, response: { status: 200, description: 'One page.', schema } } as const;
}

export function pageObject<Item>(
  page: { readonly items: readonly Item[]; readonly nextBefore: string | null },
  present: (item: Item) => object,
): object {
  const { items, nextBefore } = page;
  return {
    data: items.map(present),
    has_more: nextBefore !== null,
    next_cursor: nextBefore === null ? null : writeCursor(nextBefore),
  };
}

export const timeFilters = {
  created_from: instant('created_from').optional().meta({ description: 'Inclusive. RFC 3339.' }),
  created_to: instant('created_to').optional().meta({ description: 'Exclusive. RFC 3339.' }),
};

/** A filter by an id. An unknown id, like an id of another merchant, matches nothing. */
export function idFilter<Prefix extends Parameters<typeof isId>[0]>(name: string, prefix: Prefix) {
  return z
    .string()
    .refine((id) => isId(prefix, id), { error: `${name} must be an id that begins with ${prefix}_.` })
    .optional()
    .meta(idForm(prefix));
}

/** A filter by the object of an entry, which may be of several nouns. */
export function objectFilter<Id extends string>(prefixes: readonly string[], isKey: (text: string) => text is Id) {
  const pattern = `^(${prefixes.join('|')})_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
  return z
    .string()
    .refine(isKey, { error: `object_id must be an id that begins with ${prefixes.join('_, ')}_.` })
    .optional()
    .meta({ pattern, example: `${prefixes[0]}_01j9z3k5m7n9p1q3r5s7t9v1w3`, description: 'The object of the entry.' });
}

type RangeQuery<Key extends string> = {
  readonly cursor?: Key | undefined;
  readonly created_from?: Date | undefined;
  readonly created_to?: Date | undefined;
};

/** The part of a list that a query requests, by time and cursor. */
export function rangeOf<Key extends string>(query: RangeQuery<Key>) {
  return definedFields({ createdFrom: query.created_from, createdTo: query.created_to, before: query.cursor });
}

function writeCursor(lastKey: string): string {
  return Buffer.from(lastKey).toString('base64url');
}

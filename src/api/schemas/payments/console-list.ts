// The filters, orders and counts of the console's payment lists on the wire.
import { z } from 'zod';
import { invalidParameters } from '../../../domain/errors.ts';
import { isId } from '../../../domain/ids.ts';
import { MAX_AMOUNT_MINOR } from '../../../domain/money.ts';
import {
  LIST_ORDERS,
  MAX_COUNTED,
  type BoundedCount,
  type ListedPage,
  type ListOrder,
  type ListPlace,
} from '../../../domain/payments/payment-list.ts';
import { definedFields } from '../../validation.ts';
import { idFilter, pageObject, pageQuery } from '../page.ts';
import { idOf, objectSchema, patternAlone } from '../primitives.ts';
import { idempotencyKeyFilter, operator, paymentFilters } from './payment.ts';

const AMOUNT_MESSAGE = 'must be a whole number in the smallest unit of the currency.';

function amountBound(name: string, what: string) {
  return z
    .int({ error: `${name} ${AMOUNT_MESSAGE}` })
    .min(1)
    .max(Number(MAX_AMOUNT_MINOR))
    .optional()
    .meta({ description: `${what}. In the smallest unit of the currency.`, example: 5000 });
}

/** Several values of one parameter, whose name is repeated. */
function several<Item extends z.ZodType>(name: string, item: Item) {
  return z
    .array(item, { error: `${name} must be a list.` })
    .min(1)
    .refine((list) => new Set(list).size === list.length, { error: `${name} must name each value once.` })
    .optional()
    .meta({ uniqueItems: true });
}

/** The filters of collections and payouts, except those by state. */
const consoleFilters = {
  ...paymentFilters,
  idempotency_key: idempotencyKeyFilter,
  operator: operator.optional(),
  operator_reference: z
    .uuid({ error: 'operator_reference must be a UUID.' })
    .optional()
    .meta({
      description: 'Our reference for the payment at the operator.',
      example: '0190f5fe-7c00-7a00-8000-000000000000',
      override: patternAlone(z.regexes.uuid().source),
    }),
  amount_from: amountBound('amount_from', 'Inclusive'),
  amount_to: amountBound('amount_to', 'Inclusive'),
  created_by: idFilter('created_by', 'usr').meta({
    description:
      'The person who requested it in a session. For a payout also the creator of the key that requested it.',
  }),
  api_key_id: idFilter('api_key_id', 'key'),
};

const listOrder = z.enum(LIST_ORDERS).default('newest').meta({
  id: 'PaymentOrder',
  description: 'By creation (`newest` or `oldest` first) or by amount (`largest` or `smallest` first).',
});

/** The cursor holds the end of a page: an id, preceded by the amount if the list is ordered by amount. */
function orderedPageQuery(prefix: 'col' | 'pay') {
  const isKey = (text: string): text is string => {
    const [, id = ''] = /^(?:[0-9]{1,16}:)?([a-z]{3}_.*)$/.exec(text) ?? [];
    return isId(prefix, id);
  };
  return { ...pageQuery(isKey).shape, sort: listOrder };
}

/** The queries of a list, of its count and of its export. `own`: the filters that only this kind has. */
export function consoleQueries<State extends z.ZodType, Own extends z.ZodRawShape>(
  prefix: 'col' | 'pay',
  state: State,
  own: Own,
) {
  const filters = { ...consoleFilters, states: several('states', state), ...own };
  return {
    count: z.strictObject(filters),
    list: z.strictObject({ ...orderedPageQuery(prefix), ...filters }),
    export: z.strictObject({ ...filters, state: state.optional(), sort: listOrder }),
  };
}

type OrderedQuery = { readonly sort: ListOrder; readonly cursor?: string | undefined; readonly limit: number };

/** Throws `cursor_invalid` for a cursor of another order. */
export function orderedPageOf({ sort, cursor, limit }: OrderedQuery) {
  return { order: sort, limit, after: cursor === undefined ? null : placeOf(sort, cursor) };
}

function placeOf(sort: ListOrder, cursor: string): ListPlace {
  const [id = '', amount] = cursor.split(':').reverse();
  if (isByAmount(sort) !== (amount !== undefined)) {
    const message = 'This cursor belongs to a list in another order. Start again without a cursor.';
    throw invalidParameters([{ param: 'cursor', code: 'cursor_invalid', message }]);
  }
  return { id, amountMinor: BigInt(amount ?? 0) };
}

function isByAmount(sort: ListOrder): boolean {
  return sort === 'largest' || sort === 'smallest';
}

export function orderedPageObject<Item>(
  { items, next }: ListedPage<Item>,
  sort: ListOrder,
  present: (item: Item) => object,
): object {
  const nextBefore = next && (isByAmount(sort) ? `${next.amountMinor}:${next.id}` : next.id);
  return pageObject({ items, nextBefore }, present);
}

type ConsoleQuery = z.output<z.ZodObject<typeof consoleFilters>>;

export function consoleFilter(query: ConsoleQuery) {
  const { reference, phone, operator: operatorId, created_by: createdBy, api_key_id: apiKeyId } = query;
  const { amount_from: from, amount_to: to, created_from: createdFrom, created_to: createdTo } = query;
  const { idempotency_key: idempotencyKey, operator_reference: operatorReference } = query;
  return definedFields({
    ...{ reference, phone, idempotencyKey, operatorReference, operator: operatorId, createdBy, apiKeyId },
    amountFrom: from === undefined ? undefined : BigInt(from),
    amountTo: to === undefined ? undefined : BigInt(to),
    ...{ createdFrom, createdTo },
  });
}

/** The states that are in all given lists; undefined: any state. */
export function statesInAll<State extends string>(
  lists: readonly (readonly State[] | undefined)[],
): State[] | undefined {
  const [first, ...others] = lists.filter((list) => list !== undefined);
  return first?.filter((state) => others.every((list) => list.includes(state)));
}

export const PAGE_DESCRIPTION =
  'Any combination of filters. A page examines only some thousands of payments, so it may have fewer entries than ' +
  '`limit`, or none. Continue while `has_more` is true.';

export const paymentCountSchema = objectSchema('PaymentCount', {
  count: z.int().min(0).max(MAX_COUNTED),
  at_least: z.boolean().meta({
    description: `Whether there may be more. Counting stops at ${MAX_COUNTED}, or after thousands of payments that do not match.`,
    example: false,
  }),
});

export function countObject({ count, isAtLeast }: BoundedCount): z.input<typeof paymentCountSchema> {
  return { count, at_least: isAtLeast };
}

export const knownKey = objectSchema('KnownApiKey', {
  id: idOf('key'),
  name: z.string().nullable().meta({ example: 'Shop server' }),
});

// Lists and counts of payments for people: any combination of filters, in four orders, at a bounded cost.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import {
  MAX_COUNTED,
  type BoundedCount,
  type ListedPage,
  type ListFilter,
  type ListOrder,
  type ListPlace,
  type ListRequest,
} from '../../domain/payments/payment-list.ts';
import type { PaymentKind } from '../../domain/payments/payment.ts';
import { composedStatement, findOne, readCount, type Queryable } from '../platform/database.ts';
import { waitsFor } from './approval.ts';

export type PaymentIdPrefix = 'col' | 'pay' | 'rev';

export type ListSource<Row, Payment> = {
  readonly kind: PaymentKind;
  readonly prefix: PaymentIdPrefix;
  readonly columns: string;
  readonly toPayment: (row: Row) => Payment;
};

/** How many rows one page reads at most if no index has all of its filters. */
const LOOKED_THROUGH = 5000;
/** How many rows found by other filters are sorted by amount at most. */
const SORTED = 2000;
type Order = { readonly by: string; readonly beyond: '<' | '>'; readonly isByAmount: boolean };
/** How each list is sorted, and how the rows after a place compare with it. */
const ORDERS: Readonly<Record<ListOrder, Order>> = {
  newest: { by: 'id DESC', beyond: '<', isByAmount: false },
  oldest: { by: 'id', beyond: '>', isByAmount: false },
  largest: { by: 'amount_minor DESC, id DESC', beyond: '<', isByAmount: true },
  smallest: { by: 'amount_minor, id', beyond: '>', isByAmount: true },
};

const equal = (column: string) => (value: string) => `${column} = ${value}`;

/** The filters by equality, the most selective first: the index of the first given filter finds the rows. Null: in another table. */
const FOUND_BY = {
  operatorReference: equal('operator_reference'),
  // The index has the lowercase key; the second condition compares the exact key.
  idempotencyKey: (value) => `lower(idempotency_key) = lower(${value} COLLATE "C") AND idempotency_key = ${value}`,
  checkoutId: null,
  // Ignores case, because people type the reference.
  reference: (value) => `lower(reference) = lower(${value})`,
  phone: equal('phone'),
  createdBy: equal('created_by'),
  apiKeyId: equal('api_key_id'),
} as const satisfies Partial<Record<keyof ListFilter, ((value: string) => string) | null>>;

type Place = (value: unknown) => string;

/** Writes SQL, and places its values only then: a statement has no unused values. */
type Condition = () => string;

/** The conditions of a filter: one index finds the rows by `found`, and the `others` are checked on each row. */
type Conditions = {
  readonly found: readonly Condition[];
  readonly others: readonly Condition[];
  /** Null: any state, or the states are among the `others`. */
  readonly states: readonly string[] | null;
  /** The column that finds and orders the rows: the payment's id, or the collection's id in the attempts at a checkout. */
  readonly idColumn: 'id' | 'collection_id';
};

/**
 * One page. If the index that is read does not have all of the filters, a page reads at most 5,000 rows, so that its cost does not
 * depend on the filters or on the length of the list: the page may have fewer items than requested, or none, and still have a `next`.
 */
export async function listPage<
  Row extends object,
  Payment extends { readonly id: string; readonly amountMinor: bigint },
>(
  db: Queryable,
  merchantId: MerchantId,
  { columns, toPayment, ...from }: ListSource<Row, Payment>,
  request: ListRequest,
): Promise<ListedPage<Payment>> {
  const { filter, order, limit } = request;
  if (filter.states?.length === 0) return { items: [], next: null };
  const values: unknown[] = [merchantId];
  const place: Place = (value) => `$${values.push(value)}`;
  const { isByAmount } = ORDERS[order];
  const isSorted = isByAmount && (await isShort(db, merchantId, from, filter));
  const conditions = conditionsOf(filter, { from, place, isByAmount: isByAmount && !isSorted });
  const after = afterPlace(request, conditions, place);
  const isWhole = !isSorted && conditions.others.length === 0;
  // Rows to be sorted are found in any order; a few more may have been added since the count.
  const walk = isSorted ? ({ order: 'newest', after: null } as const) : { order, after };
  const lookedThrough = isSorted ? 2 * SORTED : isWhole ? limit + 1 : share(LOOKED_THROUGH, conditions);
  const most = isWhole ? place(lookedThrough) : `${lookedThrough}`;
  const scan = scanOf({ ...conditions, ...walk, from }, most, place);
  const others = allOf([...conditions.others, ...(isSorted && after ? [after] : [])]);
  const text = `SELECT ${columns} FROM (${scan}) AS payments WHERE ${others}
    ORDER BY ${ORDERS[order].by} LIMIT ${place(limit + 1)}`;
  const rows = await db.run<Row>(composedStatement(`${from.kind}_page`, text), values);
  const items = rows.slice(0, limit).map(toPayment);
  if (rows.length > limit) return { items, next: placeOf(items.at(-1)) };
  if (isWhole || isSorted) return { items, next: null };
  return { items, next: await lastLookedAt(db, merchantId, request, from) };
}

/** How many payments match, counted up to 1,000 among the newest 10,000 that an index finds. */
export async function countMatching(
  db: Queryable,
  merchantId: MerchantId,
  from: ListFrom,
  filter: ListFilter,
): Promise<BoundedCount> {
  if (filter.states?.length === 0) return { count: 0, isAtLeast: false };
  const values: unknown[] = [merchantId];
  const place: Place = (value) => `$${values.push(value)}`;
  const isByAmount = isOnlyByAmount(filter);
  const conditions = conditionsOf(filter, { from, place, isByAmount });
  const isWhole = conditions.others.length === 0;
  const lookedThrough = isWhole ? MAX_COUNTED + 1 : share(2 * LOOKED_THROUGH, conditions);
  const order: ListOrder = isByAmount ? 'smallest' : 'newest';
  const scan = scanOf({ ...conditions, from, order, after: null }, `${lookedThrough}`, place);
  const text = `SELECT count(*) FILTER (WHERE ${allOf(conditions.others)})::int AS matching, count(*)::int AS looked_at
    FROM (${scan}) AS payments`;
  const row = await findOne<{ matching: number; lookedAt: number }>(
    db,
    composedStatement(`${from.kind}_count`, text),
    values,
  );
  const { matching = 0, lookedAt = 0 } = row ?? {};
  const isAtLeast = matching > MAX_COUNTED || (!isWhole && lookedAt >= lookedThrough);
  return { count: Math.min(matching, MAX_COUNTED), isAtLeast };
}

/** Divides the rows to read equally among the states, so that the cost does not depend on their number. */
function share(most: number, { states }: Conditions): number {
  return Math.floor(most / Math.max(1, states?.length ?? 1));
}

type ListFrom = Pick<ListSource<never, never>, 'kind' | 'prefix'>;

function isOnlyByAmount({ amountFrom, amountTo, ...others }: ListFilter): boolean {
  return Object.keys(others).length === 0 && (amountFrom !== undefined || amountTo !== undefined);
}

function placeOf(last: ListPlace | undefined): ListPlace | null {
  return last ? { id: last.id, amountMinor: last.amountMinor } : null;
}

/** Whether an index other than that of amounts finds few enough rows to sort. */
async function isShort(db: Queryable, merchantId: MerchantId, from: ListFrom, filter: ListFilter): Promise<boolean> {
  const values: unknown[] = [merchantId];
  const place: Place = (value) => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, { from, place, isByAmount: false });
  if (conditions.found.length === 1 && conditions.states === null) return false;
  const scan = scanOf({ ...conditions, from, order: 'newest', after: null }, `${SORTED + 1}`, place);
  const text = `SELECT count(*)::int AS count FROM (${scan}) AS found`;
  return (await readCount(db, composedStatement(`${from.kind}_short`, text), values)) <= SORTED;
}

type Composing = { readonly from: ListFrom; readonly place: Place; readonly isByAmount: boolean };

function conditionsOf(filter: ListFilter, { from, place, isByAmount }: Composing): Conditions {
  const found: Condition[] = [() => `merchant_id = $1 AND kind = '${from.kind}'`];
  const others: Condition[] = [];
  let idColumn: Conditions['idColumn'] = 'id';
  const { states, createdFrom, createdTo, amountFrom, amountTo, operator, waitingFor } = filter;
  const compare = (column: string, sign: string, value: unknown) => () => `${column} ${sign} ${place(value)}`;
  let isFound = isByAmount;
  for (const [name, condition] of Object.entries(FOUND_BY)) {
    const value = filter[name as keyof typeof FOUND_BY];
    if (value === undefined) continue;
    if (condition !== null) (isFound ? others : found).push(() => condition(place(value)));
    else if (isFound)
      others.push(() => `id IN (SELECT collection_id FROM checkout_attempts WHERE ${ofCheckout(value, place)})`);
    else {
      found.splice(0, 1, () => ofCheckout(value, place));
      idColumn = 'collection_id';
    }
    isFound = true;
  }
  // An id begins with the time of its creation.
  const times = isByAmount ? others : found;
  if (createdFrom) times.push(compare(idColumn, '>=', lowestIdAt(from.prefix, createdFrom.getTime())));
  if (createdTo) times.push(compare(idColumn, '<', lowestIdAt(from.prefix, createdTo.getTime())));
  const amounts = isByAmount ? found : others;
  if (amountFrom !== undefined) amounts.push(compare('amount_minor', '>=', amountFrom));
  if (amountTo !== undefined) amounts.push(compare('amount_minor', '<=', amountTo));
  if (operator !== undefined) others.push(compare('operator', '=', operator));
  if (waitingFor) others.push(() => waitsFor('payments', place(waitingFor.userId), place(waitingFor.at)));
  if (states && isFound) others.push(() => `state = ANY(${place(states)})`);
  return { found, others, states: states && !isFound ? states : null, idColumn };
}

/** A condition: the attempts at this checkout; none if the checkout is another merchant's. */
function ofCheckout(checkoutId: string, place: Place): string {
  return `checkout_id = (SELECT k.id FROM checkouts k WHERE k.merchant_id = $1 AND k.id = ${place(checkoutId)})`;
}

function allOf(conditions: readonly Condition[]): string {
  return conditions.map((condition) => condition()).join(' AND ') || 'true';
}

function afterPlace(
  { order, after }: Pick<ListRequest, 'order' | 'after'>,
  { idColumn }: Conditions,
  place: Place,
): Condition | null {
  if (after === null) return null;
  const { beyond, isByAmount } = ORDERS[order];
  if (!isByAmount) return () => `${idColumn} ${beyond} ${place(after.id)}`;
  return () => `(amount_minor, id) ${beyond} (${place(after.amountMinor)}, ${place(after.id)})`;
}

type Walk = Conditions & { readonly from: ListFrom; readonly order: ListOrder; readonly after: Condition | null };

/** SQL of the rows that an index finds, in order, at most `most`. A number in the text tells the planner how few rows there are. */
function scanOf(walk: Walk, most: string, place: Place): string {
  const { found, states, idColumn, order, after } = walk;
  const where = allOf(after === null ? found : [...found, after]);
  if (idColumn === 'collection_id') {
    const ids = `SELECT collection_id FROM checkout_attempts WHERE ${where}
      ORDER BY collection_id ${order === 'newest' ? 'DESC' : ''} LIMIT ${most}`;
    // Each payment is looked up by itself: a plan for a join may read all of either table.
    return `SELECT payment.* FROM (${ids}) AS attempts
      CROSS JOIN LATERAL (SELECT * FROM payments p WHERE p.id = attempts.collection_id LIMIT 1) AS payment`;
  }
  const end = `ORDER BY ${ORDERS[order].by} LIMIT ${most}`;
  if (states === null) return `SELECT * FROM payments WHERE ${where} ${end}`;
  if (states.length === 1) return `SELECT * FROM payments WHERE ${where} AND state = ${place(states[0])} ${end}`;
  // Each state has its own range of the index, so the list is merged from one range per state.
  return `SELECT of_state.* FROM unnest(${place(states)}::text[]) AS wanted (state) CROSS JOIN LATERAL (
      SELECT * FROM payments WHERE ${where} AND payments.state = wanted.state ${end}) AS of_state ${end}`;
}

/** The last place that was read for a page with too few items; null if the page reached the end of the list. */
async function lastLookedAt(
  db: Queryable,
  merchantId: MerchantId,
  request: ListRequest,
  from: ListFrom,
): Promise<ListPlace | null> {
  const values: unknown[] = [merchantId];
  const place: Place = (value) => `$${values.push(value)}`;
  const { filter, order } = request;
  const conditions = conditionsOf(filter, { from, place, isByAmount: ORDERS[order].isByAmount });
  const most = share(LOOKED_THROUGH, conditions);
  const after = afterPlace(request, conditions, place);
  const scan = scanOf({ ...conditions, from, order, after }, `${most}`, place);
  const text = `SELECT id, amount_minor FROM (${scan}) AS looked_at
    ORDER BY ${ORDERS[order].by} OFFSET ${most - 1} LIMIT 1`;
  return findOne<ListPlace>(db, composedStatement(`${from.kind}_last_looked_at`, text), values);
}

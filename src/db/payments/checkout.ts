// Rows of checkouts.
import type { CheckoutId, MerchantId } from '../../domain/ids.ts';
import { checkoutState, MOST_COUNTED_PAID, type Checkout, type CheckoutState } from '../../domain/payments/checkout.ts';
import { insertion } from '../platform/columns.ts';
import { conditionsOf, idConditions, type ListRange, type Page } from '../platform/page.ts';
import { composedStatement, findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const COLUMNS = `k.id, k.code, k.merchant_id, k.amount_minor, k.currency, k.reference, k.description, k.metadata, k.use,
  k.return_url, k.expires_at, k.cancelled_at, k.created_by, k.created_at`;

const insert = insertion(
  'checkout_insert',
  'checkouts',
  `id, code, merchant_id, amount_minor, currency, reference, description, metadata, use, return_url, expires_at, created_by,
   created_at`,
);

export async function insertCheckout(tx: Tx, checkout: Checkout): Promise<void> {
  await insert(tx, { ...checkout, metadata: JSON.stringify(checkout.metadata) });
}

const FIND = statement('checkout_find')`SELECT ${COLUMNS} FROM checkouts k WHERE k.merchant_id = $1 AND k.id = $2`;

export async function findCheckout(db: Queryable, merchantId: MerchantId, id: CheckoutId): Promise<Checkout | null> {
  return findOne<Checkout>(db, FIND, [merchantId, id]);
}

const LOCK = statement('checkout_lock')`
  SELECT ${COLUMNS} FROM checkouts k WHERE k.merchant_id = $1 AND k.id = $2 FOR NO KEY UPDATE`;

/** Locks the checkout: until the transaction ends, no other transaction makes an attempt at the checkout or cancels it. */
export async function findCheckoutLocked(tx: Tx, merchantId: MerchantId, id: CheckoutId): Promise<Checkout | null> {
  return findOne<Checkout>(tx, LOCK, [merchantId, id]);
}

const FIND_BY_CODE = statement('checkout_find_by_code')`
  SELECT ${COLUMNS}, m.name AS merchant_name FROM checkouts k JOIN merchants m ON m.id = k.merchant_id WHERE k.code = $1`;

/** Searches all merchants. For the payers' page only, because its address names only the code. */
export async function findCheckoutByCode(
  db: Queryable,
  code: string,
): Promise<{ readonly checkout: Checkout; readonly merchantName: string } | null> {
  const row = await findOne<Checkout & { merchantName: string }>(db, FIND_BY_CODE, [code]);
  if (!row) return null;
  const { merchantName, ...checkout } = row;
  return { checkout, merchantName };
}

const CANCEL = statement('checkout_cancel')`UPDATE checkouts SET cancelled_at = $2 WHERE id = $1`;

/** Cancels a checkout that is locked and not cancelled. */
export async function cancelCheckout(tx: Tx, id: CheckoutId, at: Date): Promise<void> {
  await tx.run(CANCEL, [id, at]);
}

// The count stops at a hundred, because a checkout with more is known to be paid.
const COUNT_PAID = statement('checkout_count_paid')`
  SELECT k.id, p.count FROM unnest($1::text[]) AS k (id) CROSS JOIN LATERAL (
    SELECT count(*)::int AS count FROM (
      SELECT FROM checkout_attempts a JOIN payments c ON c.id = a.collection_id
      WHERE a.checkout_id = k.id AND c.state IN ('succeeded', 'reversed') LIMIT ${MOST_COUNTED_PAID}) AS paid) AS p`;

/** How many attempts at each checkout were paid, including attempts whose money was returned since, counted up to a hundred. */
export async function countPaid(db: Queryable, ids: readonly CheckoutId[]): Promise<Map<CheckoutId, number>> {
  const rows = await db.run<{ id: CheckoutId; count: number }>(COUNT_PAID, [ids]);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export type CheckoutFilter = ListRange<CheckoutId> & {
  readonly state?: CheckoutState;
  readonly reference?: string;
};

export type CountedCheckout = { readonly id: CheckoutId; readonly checkout: Checkout; readonly paidCount: number };

/** How many checkouts one page of a state reads at most. No index has the state, which follows from the attempts and the clock. */
const LOOKED_THROUGH = 500;

/** One page, newest first. With a state the page may have fewer items than `limit` and still have a next page. */
export async function listCheckouts(
  db: Queryable,
  merchantId: MerchantId,
  filter: CheckoutFilter,
  { limit, at }: { readonly limit: number; readonly at: Date },
): Promise<Page<CountedCheckout>> {
  const most = filter.state === undefined ? limit + 1 : LOOKED_THROUGH;
  const checkouts = await readCheckouts(db, merchantId, filter, most);
  const ids = checkouts.map(({ id }) => id);
  const paid = await countPaid(db, ids);
  const found = checkouts
    .map((checkout) => ({ id: checkout.id, checkout, paidCount: paid.get(checkout.id) ?? 0 }))
    .filter(
      ({ checkout, paidCount }) =>
        filter.state === undefined || checkoutState(checkout, paidCount > 0, at) === filter.state,
    );
  const items = found.slice(0, limit);
  if (found.length > limit) return { items, nextBefore: items.at(-1)?.id ?? null };
  return { items, nextBefore: checkouts.length < most ? null : (checkouts.at(-1)?.id ?? null) };
}

async function readCheckouts(
  db: Queryable,
  merchantId: MerchantId,
  filter: CheckoutFilter,
  most: number,
): Promise<Checkout[]> {
  const { conditions, values } = conditionsOf(3, [
    // The index has lowercase references.
    ['lower(k.reference) = lower(?) AND k.reference = ?', filter.reference],
    ...idConditions('k.id', 'chk', filter),
  ]);
  const text = `SELECT ${COLUMNS} FROM checkouts k WHERE k.merchant_id = $1${conditions} ORDER BY k.id DESC LIMIT $2`;
  return db.run<Checkout>(composedStatement('checkout_list', text), [merchantId, most, ...values]);
}

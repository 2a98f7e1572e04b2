// The totals of payments: read as folded and unfolded together, folded by the dispatcher, and rebuilt from the payments.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import type { DayTotal, PaymentTotal } from '../../domain/payments/totals.ts';
import type { DayRange } from '../../domain/time-zone.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

// What a change adds: one payment to its new state, and one less to the state that it left.
const MOVED = `(VALUES (to_state, 1), (from_state, -1)) AS moved (state, n)`;

// One statement, so that a change is seen either folded or not, and never both or neither.
const ALL = `
  SELECT kind, operator, quarter_at, state, count, amount_minor FROM payment_totals
  WHERE merchant_id = $1 AND quarter_at >= $2 AND quarter_at < $3
  UNION ALL
  SELECT kind, operator, quarter_at, moved.state, n, n * amount_minor FROM payment_total_changes CROSS JOIN LATERAL ${MOVED}
  WHERE merchant_id = $1 AND quarter_at >= $2 AND quarter_at < $3 AND moved.state IS NOT NULL`;
const SUMS = 'sum(count)::int AS count, sum(amount_minor)::bigint AS amount_minor';

const LIST_DAYS = statement('payment_total_list_days')`
  SELECT ($4::text[])[width_bucket(quarter_at, $5::timestamptz[])] AS date, kind, operator, state, ${SUMS}
  FROM (${ALL}) AS all_of_them GROUP BY 1, kind, operator, state HAVING sum(count) <> 0
  ORDER BY 1 DESC, kind, operator, state`;
const LIST = statement('payment_total_list')`
  SELECT kind, operator, state, ${SUMS} FROM (${ALL}) AS all_of_them
  GROUP BY kind, operator, state HAVING sum(count) <> 0 ORDER BY kind, operator, state`;

/** From inclusive, to exclusive; both at quarters of an hour. */
export type QuarterRange = { readonly from: Date; readonly to: Date };

/** The totals of each day, newest first, of the payments that were created on these days. */
export async function listDayTotals(
  db: Queryable,
  merchantId: MerchantId,
  { days, endsAt }: DayRange,
): Promise<DayTotal[]> {
  const dates = days.map(({ date }) => date);
  const starts = days.map(({ startsAt }) => startsAt);
  return db.run<DayTotal>(LIST_DAYS, [merchantId, starts[0], endsAt, dates, starts]);
}

/** The totals of all payments that were created in the range. */
export async function listTotals(
  db: Queryable,
  merchantId: MerchantId,
  { from, to }: QuarterRange,
): Promise<PaymentTotal[]> {
  return db.run<PaymentTotal>(LIST, [merchantId, from, to]);
}

const ofPayments = (kind: string, bounds: string) =>
  `SELECT kind, operator, state, count(*)::int AS count, sum(amount_minor)::bigint AS amount_minor
   FROM payments WHERE merchant_id = $1 AND kind = '${kind}' AND ${bounds} GROUP BY kind, operator, state`;
const LIST_PART = statement('payment_total_list_part')`
  ${ofPayments('collection', 'id >= $2 AND id < $3')}
  UNION ALL ${ofPayments('payout', 'id >= $4 AND id < $5')}`;

/** The same, counted from the payments: for less than a quarter of an hour. */
export async function countPayments(
  db: Queryable,
  merchantId: MerchantId,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<PaymentTotal[]> {
  const bounds = (['col', 'pay'] as const).flatMap((prefix) =>
    [from, to].map((at) => lowestIdAt(prefix, at.getTime())),
  );
  return db.run<PaymentTotal>(LIST_PART, [merchantId, ...bounds]);
}

// Whoever folds at the same time takes other rows, and both write the totals in the same order.
const FOLD = statement('payment_total_fold')`
  WITH taken AS (
    DELETE FROM payment_total_changes WHERE id IN (
      SELECT id FROM payment_total_changes ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
    RETURNING merchant_id, quarter_at, kind, operator, from_state, to_state, amount_minor),
  folded AS (
    INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor)
    SELECT merchant_id, quarter_at, kind, operator, moved.state, sum(n), sum(n * amount_minor)
    FROM taken CROSS JOIN LATERAL ${MOVED} WHERE moved.state IS NOT NULL
    GROUP BY merchant_id, quarter_at, kind, operator, moved.state HAVING sum(n) <> 0 OR sum(n * amount_minor) <> 0
    ORDER BY merchant_id, quarter_at, kind, operator, moved.state
    ON CONFLICT (merchant_id, quarter_at, kind, operator, state) DO UPDATE
      SET count = payment_totals.count + excluded.count,
          amount_minor = payment_totals.amount_minor + excluded.amount_minor)
  SELECT count(*)::int AS count FROM taken`;

/** Folds at most `limit` changes into the totals, all or nothing; returns how many. */
export async function foldTotals(db: Queryable, limit: number): Promise<number> {
  return (await findOne<{ count: number }>(db, FOLD, [limit]))?.count ?? 0;
}

const LOCK = statement('payment_total_lock')`LOCK TABLE payment_totals IN EXCLUSIVE MODE`;
const FORGET = 'DELETE FROM payment_totals WHERE merchant_id = $1';
// Reads payments and changes as of one moment: what changes after it stays a change.
const REBUILD = statement('payment_total_rebuild')`
  WITH forgotten AS (DELETE FROM payment_total_changes WHERE merchant_id = $1),
  counted AS (
    SELECT merchant_id, quarter_of(created_at), kind, operator, state, count(*), sum(amount_minor)
    FROM payments WHERE merchant_id = $1 AND kind IN ('collection', 'payout') GROUP BY 1, 2, 3, 4, 5)
  INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor) SELECT * FROM counted`;
const EMPTY = statement('payment_total_empty')`${FORGET}`;

/** Counts the merchant's payments again. Nobody folds meanwhile, and everybody else goes on. */
export async function rebuildTotals(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK, []);
  await tx.run(EMPTY, [merchantId]);
  await tx.run(REBUILD, [merchantId]);
}

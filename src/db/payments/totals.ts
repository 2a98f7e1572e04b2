// The totals of payments: read as folded and unfolded together, folded by the dispatcher, and rebuilt from the payments.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import type { DayTotal, PaymentTotal } from '../../domain/payments/totals.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

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

const LIST_DAYS = statement(
  'payment_total_list_days',
  `SELECT to_char(quarter_at AT TIME ZONE $4, 'YYYY-MM-DD') AS date, kind, operator, state, ${SUMS}
   FROM (${ALL}) AS all_of_them GROUP BY 1, kind, operator, state HAVING sum(count) <> 0
   ORDER BY 1 DESC, kind, operator, state`,
);
const LIST = statement(
  'payment_total_list',
  `SELECT kind, operator, state, ${SUMS} FROM (${ALL}) AS all_of_them
   GROUP BY kind, operator, state HAVING sum(count) <> 0 ORDER BY kind, operator, state`,
);

/** From inclusive, to exclusive; both at quarters of an hour. */
export type QuarterRange = { readonly from: Date; readonly to: Date };

/** The totals of each day, newest first, of the payments that were created in the range. */
export async function listDayTotals(
  db: Queryable,
  merchantId: MerchantId,
  { from, to }: QuarterRange,
  timeZone: string,
): Promise<DayTotal[]> {
  return db.run<DayTotal>(LIST_DAYS, [merchantId, from, to, timeZone]);
}

/** The totals of all payments that were created in the range. */
export async function listTotals(
  db: Queryable,
  merchantId: MerchantId,
  { from, to }: QuarterRange,
): Promise<PaymentTotal[]> {
  return db.run<PaymentTotal>(LIST, [merchantId, from, to]);
}

const ofPayments = (kind: string, table: string, bounds: string) =>
  `SELECT '${kind}' AS kind, operator, state, count(*)::int AS count, sum(amount_minor)::bigint AS amount_minor
   FROM ${table} WHERE merchant_id = $1 AND ${bounds} GROUP BY operator, state`;
const LIST_PART = statement(
  'payment_total_list_part',
  `${ofPayments('collection', 'collections', 'id >= $2 AND id < $3')}
   UNION ALL ${ofPayments('payout', 'payouts', 'id >= $4 AND id < $5')}`,
);

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

const SPANS = statement(
  'payment_total_spans',
  `SELECT (date_trunc('day', local) AT TIME ZONE $2) AS today, (date_trunc('day', local - interval '7 days') AT TIME ZONE $2)
            AS week_ago_from, ((local - interval '7 days') AT TIME ZONE $2) AS week_ago_to
   FROM (SELECT $1::timestamptz AT TIME ZONE $2 AS local) AS clock`,
);

export type Spans = { readonly today: Date; readonly weekAgoFrom: Date; readonly weekAgoTo: Date };

/** When today began in this time zone, and the same span of the same weekday a week before, by its clocks. */
export async function findSpans(db: Queryable, at: Date, timeZone: string): Promise<Spans> {
  const spans = await findOne<Spans>(db, SPANS, [at, timeZone]);
  if (!spans) throw new Error('the spans of time were not computed');
  return spans;
}

const DAY_RANGE = statement(
  'payment_total_day_range',
  `SELECT ($1::date::timestamp AT TIME ZONE $3) AS "from", (($2::date + 1)::timestamp AT TIME ZONE $3) AS "to"`,
);

/** From the beginning of the one day to the end of the other, in this time zone. */
export async function findDayRange(
  db: Queryable,
  { from, to, timeZone }: { readonly from: string; readonly to: string; readonly timeZone: string },
): Promise<QuarterRange> {
  const range = await findOne<QuarterRange>(db, DAY_RANGE, [from, to, timeZone]);
  if (!range) throw new Error('the range of days was not computed');
  return range;
}

// Whoever folds at the same time takes other rows, and both write the totals in the same order.
const FOLD = statement(
  'payment_total_fold',
  `WITH taken AS (
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
   SELECT count(*)::int AS count FROM taken`,
);

/** Folds at most `limit` changes into the totals, all or nothing; returns how many. */
export async function foldTotals(db: Queryable, limit: number): Promise<number> {
  return (await findOne<{ count: number }>(db, FOLD, [limit]))?.count ?? 0;
}

const LOCK = statement('payment_total_lock', 'LOCK TABLE payment_totals IN EXCLUSIVE MODE');
const FORGET = 'DELETE FROM payment_totals WHERE merchant_id = $1';
const rowsOf = (kind: string, table: string) =>
  `SELECT merchant_id, quarter_of(created_at), '${kind}', operator, state, count(*), sum(amount_minor)
   FROM ${table} WHERE merchant_id = $1 GROUP BY 1, 2, 4, 5`;
// Reads payments and changes as of one moment: what changes after it stays a change.
const REBUILD = statement(
  'payment_total_rebuild',
  `WITH forgotten AS (DELETE FROM payment_total_changes WHERE merchant_id = $1),
   counted AS (${rowsOf('collection', 'collections')} UNION ALL ${rowsOf('payout', 'payouts')})
   INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor) SELECT * FROM counted`,
);
const EMPTY = statement('payment_total_empty', FORGET);

/** Counts the merchant's payments again. Nobody folds meanwhile, and everybody else goes on. */
export async function rebuildTotals(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK, []);
  await tx.run(EMPTY, [merchantId]);
  await tx.run(REBUILD, [merchantId]);
}

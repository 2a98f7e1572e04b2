// The totals of payments: reads add unfolded changes to the folded totals, and a rebuild counts the payments again.
import { lowestIdAt, type MerchantId } from '../../domain/ids.ts';
import type { DayTotal, PaymentTotal } from '../../domain/payments/totals.ts';
import type { DayRange } from '../../domain/time-zone.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { HAS_TOTALS, IS_UNFOLDED, MOVED } from '../state-changes.ts';

// One statement, so that a read counts each change exactly once, as folded or as unfolded.
const ALL = `
  SELECT kind, operator, quarter_at, state, count, amount_minor FROM payment_totals
  WHERE merchant_id = $1 AND quarter_at >= $2 AND quarter_at < $3
  UNION ALL
  SELECT kind, operator, quarter_of(payment_created_at), moved.state, n, n * amount_minor
  FROM state_changes CROSS JOIN LATERAL ${MOVED}
  WHERE merchant_id = $1 AND ${IS_UNFOLDED} AND ${HAS_TOTALS}
    AND payment_created_at >= $2 AND payment_created_at < $3 AND moved.state IS NOT NULL`;
const SUMS = 'sum(count)::int AS count, sum(amount_minor)::bigint AS amount_minor';

const LIST_DAYS = statement('payment_total_list_days')`
  SELECT ($4::text[])[width_bucket(quarter_at, $5::timestamptz[])] AS date, kind, operator, state, ${SUMS}
  FROM (${ALL}) AS all_of_them GROUP BY 1, kind, operator, state HAVING sum(count) <> 0
  ORDER BY 1 DESC, kind, operator, state`;
const LIST = statement('payment_total_list')`
  SELECT kind, operator, state, ${SUMS} FROM (${ALL}) AS all_of_them
  GROUP BY kind, operator, state HAVING sum(count) <> 0 ORDER BY kind, operator, state`;

/** `from` is inclusive and `to` exclusive; both are at quarters of an hour. */
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

/** The totals of a range, counted from the payments: for less than a quarter of an hour. */
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

const LOCK = statement('payment_total_lock')`SELECT FROM fold_position FOR UPDATE`;
const FORGET = statement('payment_total_forget')`DELETE FROM payment_totals WHERE merchant_id = $1`;
// Reads payments and changes as of one moment. Unfolded changes are subtracted, because folding adds them later.
const REBUILD = statement('payment_total_rebuild')`
  INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor)
  SELECT $1, quarter_at, kind, operator, state, sum(n), sum(n * amount_minor) FROM (
    SELECT quarter_of(created_at) AS quarter_at, kind, operator, state, 1 AS n, amount_minor
    FROM payments WHERE merchant_id = $1 AND kind IN ('collection', 'payout')
    UNION ALL
    SELECT quarter_of(payment_created_at), kind, operator, moved.state, -n, amount_minor
    FROM state_changes CROSS JOIN LATERAL ${MOVED}
    WHERE merchant_id = $1 AND ${IS_UNFOLDED} AND ${HAS_TOTALS} AND moved.state IS NOT NULL) AS counted
  GROUP BY quarter_at, kind, operator, state HAVING sum(n) <> 0 OR sum(n * amount_minor) <> 0`;

/** Counts the merchant's payments again. Only folding waits until the transaction ends. */
export async function rebuildTotals(tx: Tx, merchantId: MerchantId): Promise<void> {
  await tx.run(LOCK, []);
  await tx.run(FORGET, [merchantId]);
  await tx.run(REBUILD, [merchantId]);
}

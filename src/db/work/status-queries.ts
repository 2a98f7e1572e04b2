// Due status queries: of pending payments by their schedule, and of final payments whose money may still move.
import type { MerchantId } from '../../domain/ids.ts';
import type { Rechecked } from '../../domain/payments/late-checks.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { PaymentId, PaymentKind } from '../../domain/payments/payment.ts';
import { QUERY_PRIORITY, type QueryDue } from '../../domain/work.ts';
import { findOne, readCount, statement, type Queryable } from '../platform/database.ts';
import { leaseOf } from './work.ts';

const HAS_KIND = (kinds: string): string => `w.kind = ANY(${kinds}::text[])`;
const DUE_AT = 'coalesce(w.claimed_until, w.due_at)';
// Only the index of status queries has this condition. By `task`, PostgreSQL might find a row there and not by its key.
const IS_IN_CLASS = 'w.operator = class.operator AND w.is_started IS NULL AND w.priority = class.priority';
const isGapOver = (gapMs: string): string =>
  `(w.queried_at IS NULL OR w.queried_at <= now() - make_interval(secs => ${gapMs} / 1000.0))`;
const IS_OF_MERCHANT = `${IS_IN_CLASS} AND w.merchant_id = class.merchant_id`;

// Each merchant with queries of each priority, of the operators $1: one step in the index for each.
const CLASSES = `class AS (
    SELECT class.operator, class.priority, (
      SELECT w.merchant_id FROM work w WHERE ${IS_IN_CLASS} ORDER BY w.merchant_id LIMIT 1) AS merchant_id
    FROM (SELECT * FROM unnest($1::text[]) AS asked (operator),
            unnest(ARRAY[${Object.values(QUERY_PRIORITY).join(', ')}]::smallint[]) AS with_priority (priority)) AS class
    UNION ALL
    SELECT class.operator, class.priority, (
      SELECT w.merchant_id FROM work w WHERE ${IS_IN_CLASS} AND w.merchant_id > class.merchant_id ORDER BY w.merchant_id LIMIT 1)
    FROM class WHERE class.merchant_id IS NOT NULL)`;

const COUNT_DUE = statement('status_query_count_due')`
  WITH RECURSIVE ${CLASSES}
  SELECT count(*)::int AS count FROM (
    SELECT FROM class CROSS JOIN LATERAL (
      SELECT FROM work w WHERE ${IS_OF_MERCHANT} AND ${DUE_AT} <= now() ORDER BY ${DUE_AT} LIMIT $2) AS due
    LIMIT $2) AS due`;

/** How many queries of the operator are due, counted up to `limit`. */
export async function countDueQueries(db: Queryable, operator: OperatorId, limit: number): Promise<number> {
  return readCount(db, COUNT_DUE, [[operator], limit]);
}

// For each priority the merchants take turns: each with due queries gets an equal share of the claim, and at least one,
// so a merchant with thousands of open payments delays no other. A merchant costs three steps in the index, however
// many rows it has. A later callback sets due_at again. A separate subquery locks, because a window function must not.
const CLAIM = statement('status_query_claim')`
  WITH RECURSIVE ${CLASSES},
  share AS (
    SELECT class.*, greatest(1, $2 / count(*) OVER (PARTITION BY class.priority)) AS size FROM class
    CROSS JOIN LATERAL (SELECT FROM work w WHERE ${IS_OF_MERCHANT} AND ${DUE_AT} <= now() ORDER BY ${DUE_AT} LIMIT 1) AS due),
  picked AS (
    SELECT due.id FROM share AS class CROSS JOIN LATERAL (
      SELECT w.id, ${DUE_AT} AS due_at FROM work w
      WHERE ${IS_OF_MERCHANT} AND ${DUE_AT} <= now() AND ${isGapOver('$4')} AND ${HAS_KIND('$5')}
      ORDER BY ${DUE_AT} LIMIT class.size FOR UPDATE SKIP LOCKED) AS due
    ORDER BY class.priority, due.due_at LIMIT $2)
  UPDATE work w SET due_at = NULL, claimed_until = ${leaseOf('$3')}, queried_at = now(), queries = w.queries + 1
  WHERE w.task = 'status_query' AND w.id = ANY(ARRAY(SELECT id FROM picked))
  RETURNING w.id, w.kind, w.merchant_id, w.queries, w.claimed_until, date_trunc('milliseconds', now()) AS claimed_at`;

/** A claimed status query: no other process makes it before `claimedUntil`. The claim records that it begins. */
export type ClaimedQuery = {
  readonly id: PaymentId;
  readonly kind: PaymentKind;
  readonly merchantId: MerchantId;
  /** How often the status was queried since the payment came into its state, including this query. */
  readonly queries: number;
  readonly claimedUntil: Date;
  /** By the clock of the database, which may be ahead of ours and decided that the query was due. */
  readonly claimedAt: Date;
};

export type ClaimQueries = {
  readonly limit: number;
  /** Only these kinds are claimed. */
  readonly kinds: readonly PaymentKind[];
  /** If the process dies, its query is due again after this time. */
  readonly leaseMs: number;
  /** The least time between two queries of one payment, by any process. */
  readonly gapMs: number;
};

/**
 * Claims up to `limit` due queries of the operator: first those at a deadline, then those of other pending payments,
 * then those of final ones. Within each group the merchants take turns, oldest due query first.
 */
export async function claimQueries(
  db: Queryable,
  operator: OperatorId,
  { limit, kinds, leaseMs, gapMs }: ClaimQueries,
): Promise<ClaimedQuery[]> {
  return db.run<ClaimedQuery>(CLAIM, [[operator], limit, leaseMs, gapMs, kinds]);
}

// A claim of a dead process is due like any other.
const POSTPONE = statement('status_query_postpone')`
  WITH RECURSIVE ${CLASSES},
  picked AS (
    SELECT due.id FROM class CROSS JOIN LATERAL (
      SELECT w.id FROM work w WHERE ${IS_OF_MERCHANT} AND ${DUE_AT} <= now() AND ${HAS_KIND('$3')}
      ORDER BY ${DUE_AT} LIMIT $2 FOR UPDATE SKIP LOCKED) AS due
    LIMIT $2)
  UPDATE work w SET due_at = now() + make_interval(secs => $4 / 1000.0), claimed_until = NULL
  WHERE w.task = 'status_query' AND w.id = ANY(ARRAY(SELECT id FROM picked))
  RETURNING w.id, w.kind, w.merchant_id, w.priority`;

/** A due query that was postponed, because its operator is not called now. */
export type PostponedQuery = Pick<ClaimedQuery, 'id' | 'kind' | 'merchantId'> & {
  readonly priority: QueryDue['priority'];
};

/** Postpones up to `limit` due queries about payments of these kinds. No process is told, and no query counts. */
export async function postponeQueries(
  db: Queryable,
  operator: OperatorId,
  { limit, kinds, waitMs }: Pick<ClaimQueries, 'limit' | 'kinds'> & { readonly waitMs: number },
): Promise<PostponedQuery[]> {
  return db.run<PostponedQuery>(POSTPONE, [[operator], limit, kinds, waitMs]);
}

// What happened meanwhile has moved the row: a change of the payment ended the claim, and a callback set due_at.
const FINISH = statement('status_query_finish')`
  WITH finished AS (
    SELECT w.id, least(w.due_at, s.due_at) AS due_at, s.priority
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::smallint[]) AS s (id, claimed_until, due_at, priority)
    JOIN work w ON w.id = s.id AND w.task = 'status_query' AND w.claimed_until = s.claimed_until
    FOR UPDATE OF w),
  ended AS (
    DELETE FROM work w USING finished f WHERE w.id = f.id AND w.task = 'status_query' AND f.due_at IS NULL RETURNING w.id),
  kept AS (
    UPDATE work w SET claimed_until = NULL, due_at = f.due_at, priority = coalesce(f.priority, w.priority)
    FROM finished f WHERE w.id = f.id AND w.task = 'status_query' AND f.due_at IS NOT NULL)
  SELECT id FROM ended`;

export type FinishedQuery = {
  readonly query: ClaimedQuery;
  /** When the status is queried next, with the priority that it had where that is null; null: only after a callback. */
  readonly next: (Pick<QueryDue, 'dueAt'> & { readonly priority: QueryDue['priority'] | null }) | null;
};

/**
 * Ends claims, and returns the payments that are queried no more unless the operator calls back. A claim that something has ended since
 * is left as it is. One about which the operator called back meanwhile is queried as soon as the callback says.
 */
export async function finishQueries(db: Queryable, finished: readonly FinishedQuery[]): Promise<PaymentId[]> {
  if (finished.length === 0) return [];
  const rows = await db.run<{ id: PaymentId }>(FINISH, [
    finished.map(({ query }) => query.id),
    finished.map(({ query }) => query.claimedUntil),
    finished.map(({ next }) => next?.dueAt ?? null),
    finished.map(({ next }) => next?.priority ?? null),
  ]);
  return rows.map(({ id }) => id);
}

/**
 * Two parts of a statement about payment $2 with minimum gap $3. The first records the beginning of a query that was
 * not due. The second is for how many milliseconds the query must wait, because the last one is within the gap, or 0.
 * An unsent payment has no row and waits for nothing. No index has the condition: PostgreSQL finds the row by its key.
 */
export const BEGIN_QUERY = `begun AS (
    UPDATE work w SET queried_at = now(), queries = w.queries + 1
    WHERE w.id = $2 AND w.task = 'status_query' AND ${isGapOver('$3')}
    RETURNING w.id)`;
export const QUERY_WAIT_MS = `coalesce((
    SELECT greatest(0, ceil(extract(epoch FROM queried_at - now()) * 1000 + $3))::int
    FROM work WHERE id = $2 AND task = 'status_query' AND NOT EXISTS (SELECT FROM begun)), 0)`;

const FIRST_DUE_AT = statement('status_query_first_due_at')`
  WITH RECURSIVE ${CLASSES}
  SELECT min(first.due_at) AS due_at FROM class CROSS JOIN LATERAL (
    SELECT ${DUE_AT} AS due_at FROM work w WHERE ${IS_OF_MERCHANT} ORDER BY ${DUE_AT} LIMIT 1) AS first`;

/** When the longest waiting query of any of the operators was due, or the next one is; null if there is none. */
export async function firstQueryDueAt(db: Queryable, operators: readonly OperatorId[]): Promise<Date | null> {
  return (await findOne<{ dueAt: Date | null }>(db, FIRST_DUE_AT, [operators]))?.dueAt ?? null;
}

const MEASURE = statement('status_query_measure')`
  WITH RECURSIVE ${CLASSES}
  SELECT class.operator, sum(overdue.count)::int AS count,
    coalesce(extract(epoch FROM now() - min(overdue.first_at)), 0)::float8 * 1000 AS oldest_ms
  FROM class CROSS JOIN LATERAL (
    SELECT count(*) AS count, min(${DUE_AT}) AS first_at FROM work w
    WHERE ${IS_OF_MERCHANT} AND ${DUE_AT} <= now() - make_interval(secs => $2 / 1000.0)) AS overdue
  GROUP BY class.operator`;

export type OverdueQueries = {
  readonly operator: OperatorId;
  readonly count: number;
  /** How long the longest waiting query has been due. */
  readonly oldestMs: number;
};

/** The queries of each of the operators that have been due for more than `lateAfterMs`. Reads no others. */
export async function measureOverdueQueries(
  db: Queryable,
  operators: readonly OperatorId[],
  lateAfterMs: number,
): Promise<OverdueQueries[]> {
  return db.run<OverdueQueries>(MEASURE, [operators, lateAfterMs]);
}

// Times are in milliseconds, as the caller has them, so that they can be compared.
const READ_FINAL = statement('status_query_read_final')`
  SELECT date_trunc('milliseconds', p.updated_at) AS ended_at,
    CASE WHEN p.state = 'succeeded' THEN 'may_be_returned'
         WHEN p.failed_by = 'never_accepted' OR p.kind = 'collection' AND p.state = 'expired' THEN 'may_be_paid' END AS reason,
    (SELECT max(received_at) FROM operator_callbacks WHERE payment_id = p.id) AS called_back_at
  FROM payments p WHERE p.id = $1`;

/** The values that determine the next query of the final payment; null if there is no such payment. */
export async function findRechecked(db: Queryable, id: PaymentId): Promise<Rechecked | null> {
  return findOne<Rechecked>(db, READ_FINAL, [id]);
}

const FIND = statement('status_query_find')`
  SELECT queries, queried_at, due_at FROM work WHERE id = $1 AND task = 'status_query'`;

/** The status queries of a payment. */
export type StatusQueries = {
  /** How often since the payment came into its state. */
  readonly queries: number;
  /** The time of the last query, in any state. */
  readonly queriedAt: Date | null;
  /** The next scheduled query; null during a query. */
  readonly dueAt: Date | null;
};

/** Null: only a callback leads to a status query, if anything does. */
export async function findStatusQueries(db: Queryable, id: PaymentId): Promise<StatusQueries | null> {
  return findOne<StatusQueries>(db, FIND, [id]);
}

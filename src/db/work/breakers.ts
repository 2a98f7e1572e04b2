// Breakers of operators, shared by all processes: they decide whether an operator is called at all.
import type { BreakerCause, OpenBreaker, Product } from '../../domain/payments/breaker.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';

/** A breaker that is not closed, as read from the database. */
export type RecordedBreaker = OpenBreaker & {
  /** Until the next probe, or until the current probe counts as lost; null: until a person closes it. */
  readonly retryInMs: number | null;
};

const OPEN_COLUMNS = `product, state, cause, reason, opened_at,
  extract(epoch FROM retry_at - clock_timestamp())::float8 * 1000 AS retry_in_ms`;

/** A list of the breakers of operator $1 that are not closed, as part of another statement: `OpenBreakerJson`. */
export const OPEN_BREAKERS = `(
  SELECT coalesce(json_agg(json_build_object('product', product, 'state', state, 'cause', cause, 'reason', reason,
    'openedAt', opened_at, 'retryInMs', extract(epoch FROM retry_at - clock_timestamp())::float8 * 1000)), '[]')
  FROM breakers WHERE operator = $1 AND state <> 'closed')`;
export type OpenBreakerJson = Omit<RecordedBreaker, 'openedAt'> & { readonly openedAt: string };

export function breakersFrom(list: readonly OpenBreakerJson[]): RecordedBreaker[] {
  return list.map((one) => ({ ...one, openedAt: new Date(one.openedAt) }));
}

const FIND = statement('breaker_find')`
  SELECT ${OPEN_COLUMNS} FROM breakers WHERE operator = $1 AND product = $2 AND state <> 'closed'`;

/** Null: it is closed. */
export async function findOpenBreaker(
  db: Queryable,
  operator: OperatorId,
  product: Product,
): Promise<RecordedBreaker | null> {
  return findOne<RecordedBreaker>(db, FIND, [operator, product]);
}

const FIND_WAS_OPEN = statement('breaker_find_was_open')`
  SELECT 1 FROM breakers WHERE operator = $1 AND product = $2 AND (state <> 'closed' OR changed_at >= $3)`;

/** Whether the breaker is not closed now, or was not closed at some time since `since`. */
export async function wasBreakerOpen(
  db: Queryable,
  { operator, product, since }: { readonly operator: OperatorId; readonly product: Product; readonly since: Date },
): Promise<boolean> {
  return (await db.run(FIND_WAS_OPEN, [operator, product, since])).length === 1;
}

const LIST = statement('breaker_list')`
  SELECT operator, ${OPEN_COLUMNS} FROM breakers WHERE state <> 'closed' ORDER BY operator, product`;

/** The breakers of all operators that are not closed. */
export async function listOpenBreakers(db: Queryable): Promise<(RecordedBreaker & { readonly operator: string })[]> {
  return db.run(LIST, []);
}

const OPEN = statement('breaker_open')`
  INSERT INTO breakers AS b (operator, product, state, cause, reason, changed_at, opened_at, retry_at, pauses)
  VALUES ($1, $2, 'open', $3, $4, now(), now(), now() + make_interval(secs => $5 / 1000.0), 1)
  ON CONFLICT (operator, product) DO UPDATE SET state = excluded.state, cause = excluded.cause, reason = excluded.reason,
    changed_at = excluded.changed_at, opened_at = excluded.opened_at, retry_at = excluded.retry_at, pauses = excluded.pauses
  WHERE b.state = 'closed'
  RETURNING b.product`;

export type Opening = { readonly cause: BreakerCause; readonly reason: string; readonly pauseMs: number };

/** True if this call opened it; false if it was not closed. */
export async function openBreaker(
  db: Queryable,
  operator: OperatorId,
  product: Product,
  { cause, reason, pauseMs }: Opening,
): Promise<boolean> {
  return (await db.run(OPEN, [operator, product, cause, reason, pauseMs])).length === 1;
}

const BEGIN_PROBE = statement('breaker_begin_probe')`
  UPDATE breakers SET state = 'half_open', changed_at = now(), retry_at = now() + make_interval(secs => $3 / 1000.0), probes = probes + 1
  WHERE operator = $1 AND product = $2 AND state <> 'closed' AND retry_at <= now()
  RETURNING probes::float8 AS number, pauses`;

/** The one call while the breaker is half-open. */
export type Probe = { readonly number: number; readonly pauses: number };

/** The probe, which is the caller's alone for `leaseMs`; null if another process has it, or it is not due. */
export async function beginProbe(
  db: Queryable,
  operator: OperatorId,
  product: Product,
  leaseMs: number,
): Promise<Probe | null> {
  return findOne<Probe>(db, BEGIN_PROBE, [operator, product, leaseMs]);
}

const IS_PROBE = "operator = $1 AND product = $2 AND state = 'half_open' AND probes = $3";
const CLOSE = `state = 'closed', cause = NULL, reason = NULL, changed_at = now(), opened_at = NULL, retry_at = NULL, pauses = 0`;
const CLOSE_BY_PROBE = statement('breaker_close_by_probe')`UPDATE breakers SET ${CLOSE} WHERE ${IS_PROBE} RETURNING 1`;
const REOPEN = statement('breaker_reopen')`
  UPDATE breakers SET state = 'open', cause = $4, reason = $5, changed_at = now(), pauses = pauses + 1,
    retry_at = now() + make_interval(secs => $6 / 1000.0)
  WHERE ${IS_PROBE} RETURNING 1`;
const END_UNUSED = statement('breaker_end_unused')`
  UPDATE breakers SET state = 'open', changed_at = now(), retry_at = now() WHERE ${IS_PROBE} RETURNING 1`;

/**
 * Records the probe's result: `answered` closes the breaker, trouble opens it for a longer pause, and `unused`, without
 * a call, lets another begin at once. Returns false without a change if the probe counts as lost or a person acted
 * meanwhile.
 */
export async function endProbe(
  db: Queryable,
  operator: OperatorId,
  product: Product,
  { number, found }: { readonly number: number; readonly found: 'answered' | 'unused' | Opening },
): Promise<boolean> {
  const values = [operator, product, number];
  if (typeof found === 'object') {
    return (await db.run(REOPEN, [...values, found.cause, found.reason, found.pauseMs])).length === 1;
  }
  return (await db.run(found === 'answered' ? CLOSE_BY_PROBE : END_UNUSED, values)).length === 1;
}

const OPEN_BY_STAFF = statement('breaker_open_by_staff')`
  INSERT INTO breakers AS b (operator, product, state, cause, reason, changed_at, opened_at)
  VALUES ($1, $2, 'open', 'staff', $3, now(), now())
  ON CONFLICT (operator, product) DO UPDATE SET state = 'open', cause = 'staff', reason = excluded.reason, changed_at = now(),
    opened_at = coalesce(b.opened_at, excluded.opened_at), retry_at = NULL
  RETURNING (SELECT p.state FROM breakers p WHERE p.operator = $1 AND p.product = $2) AS before`;
const CLOSE_BY_STAFF = statement('breaker_close_by_staff')`
  UPDATE breakers SET ${CLOSE} WHERE operator = $1 AND product = $2 AND state <> 'closed' RETURNING 1`;

/** Opens it until a person closes it, and returns its previous state. */
export async function openBreakerByStaff(
  db: Queryable,
  operator: OperatorId,
  product: Product,
  reason: string,
): Promise<string> {
  return (await findOne<{ before: string | null }>(db, OPEN_BY_STAFF, [operator, product, reason]))?.before ?? 'closed';
}

/** True if it was not closed before. */
export async function closeBreakerByStaff(db: Queryable, operator: OperatorId, product: Product): Promise<boolean> {
  return (await db.run(CLOSE_BY_STAFF, [operator, product])).length === 1;
}

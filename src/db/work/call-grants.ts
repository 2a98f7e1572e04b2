// Grants of calls to an operator: a number a second, which all processes take from one row.
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { breakersFrom, OPEN_BREAKERS, type RecordedBreaker, type OpenBreakerJson } from './breakers.ts';

// The row is locked before it is read, and the clock is read after the lock, so a second that began meanwhile counts. A
// clock that was set back grants nothing until it reaches the last second again.
const TAKE = statement('call_grants_take')`
  WITH before AS MATERIALIZED (SELECT operator, second, taken FROM call_grants WHERE operator = $1 FOR UPDATE),
  now AS MATERIALIZED (SELECT date_trunc('second', clock_timestamp()) AS second FROM before),
  free AS (
    SELECT now.second, CASE WHEN before.second >= now.second THEN before.taken ELSE 0 END AS taken,
      before.second > now.second AS is_set_back FROM before, now),
  granted AS (
    SELECT second, taken, CASE WHEN is_set_back THEN 0 ELSE greatest(0, least($2::int, $3::int - taken)) END AS count FROM free),
  updated AS (
    UPDATE call_grants g SET second = granted.second, taken = granted.taken + granted.count
    FROM granted WHERE g.operator = $1 AND granted.count > 0
    RETURNING granted.count, granted.second)
  SELECT coalesce(count, 0) AS count,
    coalesce(extract(epoch FROM second + interval '1 second' - clock_timestamp())::float8 * 1000, 0) AS ends_in_ms,
    ${OPEN_BREAKERS} AS breakers
  FROM (SELECT) AS always LEFT JOIN updated ON true`;
const INSERT = statement('call_grants_insert')`
  INSERT INTO call_grants (operator, second, taken) VALUES ($1, date_trunc('second', now()), 0) ON CONFLICT DO NOTHING`;

export type TakenGrants = {
  readonly count: number;
  /** They are valid until the end of their second. */
  readonly endsInMs: number;
  /** The operator's breakers that are not closed, so that takers of grants need no separate statement for them. */
  readonly breakers: readonly RecordedBreaker[];
};

/** Takes up to `wanted` grants of the current second, of which all processes together may take `ceiling`. */
export async function takeGrants(
  db: Queryable,
  operator: OperatorId,
  { wanted, ceiling }: { readonly wanted: number; readonly ceiling: number },
): Promise<TakenGrants> {
  type Row = Omit<TakenGrants, 'breakers'> & { readonly breakers: readonly OpenBreakerJson[] };
  const grantRow = await findOne<Row>(db, TAKE, [operator, wanted, ceiling]);
  if (grantRow === null) throw new Error('the statement that takes grants returned no row');
  return { ...grantRow, breakers: breakersFrom(grantRow.breakers) };
}

/** Inserts the row of the operator unless it exists. */
export async function ensureGrants(db: Queryable, operator: OperatorId): Promise<void> {
  await db.run(INSERT, [operator]);
}

// The stream of state changes: folded by the dispatcher into totals and figures, and removed when it is old.
import { DURATION_BOUNDS_SECONDS } from '../domain/service-figures.ts';
import { boundedDelete } from './platform/bounded-delete.ts';
import { findOne, readCount, statement, type Database, type Queryable } from './platform/database.ts';

/** The lowest running transaction of all databases of the server: every change below it can be read. */
export const HORIZON = 'pg_snapshot_xmin(pg_current_snapshot())';
// The upper end is beyond every row that can be read. Without it PostgreSQL expects a third of the table and reads it as a whole.
export const IS_UNFOLDED = 'xid > (SELECT xid FROM fold_position) AND xid < pg_snapshot_xmax(pg_current_snapshot())';
/** What a change adds: one payment to its new state, and one less to the state that it left. */
export const MOVED = '(VALUES (to_state, 1), (from_state, -1)) AS moved (state, n)';
/** Refunds have no totals: the collection counts. */
export const HAS_TOTALS = `operator IS NOT NULL AND kind IN ('collection', 'payout')`;

// Only the process that holds the row of the position folds. All changes of a transaction are folded together, so the position is
// the number of a transaction.
const FOLD = statement('state_change_fold')`
  WITH reached AS (SELECT xid FROM fold_position FOR UPDATE SKIP LOCKED),
  taken AS MATERIALIZED (
    SELECT c.* FROM reached CROSS JOIN LATERAL (
      SELECT * FROM state_changes WHERE xid > reached.xid AND xid < ${HORIZON}
      ORDER BY xid FETCH FIRST ($1) ROWS WITH TIES) AS c),
  moves AS (SELECT taken.*, state, n FROM taken CROSS JOIN LATERAL ${MOVED} WHERE state IS NOT NULL),
  totals AS (
    INSERT INTO payment_totals (merchant_id, quarter_at, kind, operator, state, count, amount_minor)
    SELECT merchant_id, quarter_of(payment_created_at), kind, operator, state, sum(n), sum(n * amount_minor)
    FROM moves WHERE ${HAS_TOTALS}
    GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0 OR sum(n * amount_minor) <> 0
    ON CONFLICT (merchant_id, quarter_at, kind, operator, state) DO UPDATE
      SET count = payment_totals.count + excluded.count,
          amount_minor = payment_totals.amount_minor + excluded.amount_minor),
  figures AS (
    INSERT INTO payment_figures (kind, operator, state, at_most_seconds, entered, exited, seconds)
    SELECT kind, coalesce(operator, ''), state, at_most,
           count(*) FILTER (WHERE n = 1), count(*) FILTER (WHERE n = -1), sum(CASE n WHEN 1 THEN coalesce(seconds, 0) ELSE 0 END)
    FROM (SELECT *, CASE WHEN n = 1 AND seconds IS NOT NULL THEN
            coalesce((SELECT min(bound) FROM unnest($2::float8[]) AS bound WHERE bound >= seconds), 'Infinity') END AS at_most
          FROM moves WHERE operator IS NOT NULL OR kind = 'delivery' AND state = 'dead_lettered') AS timed
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (kind, operator, state, at_most_seconds) DO UPDATE
      SET entered = payment_figures.entered + excluded.entered, exited = payment_figures.exited + excluded.exited,
          seconds = payment_figures.seconds + excluded.seconds),
  advanced AS (
    UPDATE fold_position p SET xid = last.xid, last_id = greatest(p.last_id, last.id)
    FROM (SELECT max(xid) AS xid, max(id) AS id FROM taken HAVING count(*) > 0) AS last)
  SELECT count(*)::int AS count FROM taken`;

/**
 * Folds the next changes into totals and figures, all or nothing: at least `limit`, if so many can be read, and all of the last
 * transaction. Returns how many. Returns 0 while another process folds.
 */
export async function foldStateChanges(db: Queryable, limit: number): Promise<number> {
  return readCount(db, FOLD, [limit, DURATION_BOUNDS_SECONDS]);
}

// A server numbers its transactions upwards, so it has folded no transaction with a future number.
export const IS_OF_ANOTHER_SERVER = `xid >= ${HORIZON}`;
const FIND_OTHER_SERVER = statement('state_change_find_other_server')`
  SELECT xid::text FROM fold_position WHERE ${IS_OF_ANOTHER_SERVER}`;
const IS_FOLDED_ROW = 'c.xid <= p.xid AND c.id <= p.last_id';
const DELETE_FOLDED = statement('state_change_delete_folded')`
  WITH deleted AS (
    DELETE FROM state_changes WHERE (xid, id) IN (
      SELECT c.xid, c.id FROM fold_position p JOIN state_changes c ON ${IS_FOLDED_ROW} LIMIT $1)
    RETURNING 1)
  SELECT count(*)::int AS count FROM deleted`;
const LOCK = statement('state_change_lock')`LOCK TABLE state_changes IN SHARE ROW EXCLUSIVE MODE`;
const RENUMBER = statement('state_change_renumber')`UPDATE state_changes SET xid = pg_current_xact_id()`;
const RESET = statement('state_change_reset_position')`UPDATE fold_position SET xid = '0'`;

/**
 * Numbers the changes again when the database was restored from a dump into a server whose transactions have lower numbers, where
 * new changes would count as folded. Those that were folded are removed, `limit` at a time: a page that comes back reads all again.
 */
export async function renumberRestoredChanges(db: Database, limit: number): Promise<void> {
  if ((await findOne(db, FIND_OTHER_SERVER, [])) === null) return;
  while ((await readCount(db, DELETE_FOLDED, [limit])) > 0);
  await db.withTransaction(async (tx) => {
    // Every writer of a change waits or has committed: no write is in progress.
    await tx.run(LOCK, []);
    if ((await findOne(tx, FIND_OTHER_SERVER, [])) === null) return;
    await tx.run(RENUMBER, []);
    await tx.run(RESET, []);
  });
}

/** Removes what is older, and is folded. The oldest have the lowest numbers, and there is no index by time. */
export const deleteStateChanges = boundedDelete('state_change_delete_old', {
  table: 'state_changes',
  key: 'xid, id',
  isOver: 'changed_at < $1',
  first: 'xid <= (SELECT xid FROM fold_position) ORDER BY xid, id',
});

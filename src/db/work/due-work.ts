// The work poll: one statement that says which loops of a dispatcher may have something to do.
import type { DueWork } from '../../domain/due-work.ts';
import { PRIORITY, WORK_KINDS } from '../../domain/work.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { eachOf } from './work.ts';
import { IS_OF_ANOTHER_SERVER, IS_UNFOLDED } from '../state-changes.ts';
import { ENDPOINTS_WITH_BACKLOG, ENDPOINTS_WITH_RETRIES } from '../webhooks/delivery.ts';

// The claim finds by merchant whether it is due. This statement would have to read everything that is not due yet.
const IS_ANY_UNSTARTED = 'EXISTS (SELECT FROM work w WHERE NOT w.is_started ORDER BY w.kind LIMIT 1)';

// Each is the first entry of an index range, in index order: PostgreSQL has no other way to find it.
const IS_ANY_LATE = `EXISTS (
  SELECT FROM ${eachOf(WORK_KINDS)}
  CROSS JOIN unnest(ARRAY[${Object.values(PRIORITY).join(', ')}]) AS level (priority)
  CROSS JOIN LATERAL (
    SELECT w.due_at FROM work w WHERE w.kind = each.kind AND w.priority = level.priority AND w.is_started
    ORDER BY w.due_at LIMIT 1) AS first
  WHERE first.due_at <= now())`;

const ARE_CHANGES_UNFOLDED = `EXISTS (SELECT FROM state_changes WHERE ${IS_UNFOLDED} ORDER BY xid, id LIMIT 1)`;

const FIND = statement('due_work_find')`
  WITH RECURSIVE ${ENDPOINTS_WITH_BACKLOG}, ${ENDPOINTS_WITH_RETRIES},
  owed AS MATERIALIZED (
    SELECT is_pending, e.state = 'enabled' AS is_enabled, e.failing_since IS NOT NULL AS is_failing
    FROM (SELECT endpoint_id, true AS is_pending FROM due UNION ALL SELECT endpoint_id, false FROM retried) AS owed
    CROSS JOIN LATERAL (SELECT state, failing_since FROM endpoints WHERE id = owed.endpoint_id LIMIT 1) AS e)
  SELECT EXISTS (SELECT FROM owed WHERE is_pending AND is_enabled AND NOT is_failing) AS attempts,
         ${IS_ANY_UNSTARTED} AS starts,
         ${IS_ANY_LATE} AS checks,
         EXISTS (SELECT FROM owed WHERE NOT is_enabled OR is_pending AND is_failing)
           OR EXISTS (SELECT FROM replays WHERE state = 'running') AS maintenance,
         EXISTS (SELECT FROM audit_entries_to_link ORDER BY entry_id LIMIT 1) AS audit_chains,
         ${ARE_CHANGES_UNFOLDED} OR EXISTS (SELECT FROM fold_position WHERE ${IS_OF_ANOTHER_SERVER}) AS totals`;

/**
 * True for everything that a claim, a check or a fold would find; it may also be true without a find. Of each queue it
 * reads a few entries of an index, however much waits, and one for each endpoint with owed deliveries.
 */
export async function findDueWork(db: Queryable): Promise<DueWork> {
  const found = await findOne<DueWork>(db, FIND, []);
  if (found === null) throw new Error('the work poll returned no row');
  return found;
}

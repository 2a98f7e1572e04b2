// Checks of work whose workflow was started: the late work, and the results of its checks.
import { PRIORITY, type WorkKind } from '../../domain/work.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';
import { CLAIMED, claimsOf, claimWork, IS_STILL_CLAIMED, leaseOf, type ClaimedWork } from './work.ts';

/** Started work whose check is due, as it was when the check claimed it. */
export type LateWork = ClaimedWork & { readonly updatedAt: Date };

// Of the work that has been due longest: urgent work first, then each merchant in turn.
const WINDOW = 1000;

const CLAIM_LATE = statement('work_claim_late')`
  WITH due AS (
    SELECT late.* FROM unnest(ARRAY[${Object.values(PRIORITY).join(', ')}]::smallint[]) AS each (priority) CROSS JOIN LATERAL (
      SELECT w.id, w.merchant_id, w.priority, w.due_at FROM work w
      WHERE w.kind = $3 AND w.priority = each.priority AND w.is_started AND w.due_at <= now()
      ORDER BY w.due_at LIMIT ${WINDOW}) AS late),
  in_turn AS (
    SELECT id FROM due
    ORDER BY priority, row_number() OVER (PARTITION BY priority, merchant_id ORDER BY due_at), due_at LIMIT $1)
  UPDATE work w SET due_at = ${leaseOf('$2')}
  WHERE w.task = 'workflow' AND w.id = ANY(ARRAY(
    SELECT w.id FROM work w WHERE w.id = ANY(ARRAY(SELECT id FROM in_turn)) AND w.task = 'workflow' AND w.due_at <= now()
    FOR UPDATE SKIP LOCKED))
  RETURNING ${CLAIMED}`;

export type ClaimLate = {
  readonly limit: number;
  /** No other check claims the work before this time has passed. */
  readonly leaseMs: number;
};

/** Claims up to `limit` rows whose workflow was started and has recorded nothing for too long. */
export async function claimLate(db: Queryable, kind: WorkKind, { limit, leaseMs }: ClaimLate): Promise<LateWork[]> {
  return (await claimWork(db, kind, CLAIM_LATE, [limit, leaseMs, kind])) as LateWork[];
}

const SCHEDULE_CHECKS = statement('work_schedule_checks')`
  UPDATE work w SET due_at = ${leaseOf('s.delay_ms')}
  FROM unnest($1::text[], $2::timestamptz[], $3::float8[]) AS s (id, due_at, delay_ms)
  WHERE ${IS_STILL_CLAIMED}`;

/** Sets the next check of each. Work that changed since its claim stays unchanged. */
export async function scheduleChecks(
  db: Queryable,
  checks: readonly { readonly work: LateWork; readonly delayMs: number }[],
): Promise<void> {
  if (checks.length === 0) return;
  await db.run(SCHEDULE_CHECKS, [...claimsOf(checks.map(({ work }) => work)), checks.map(({ delayMs }) => delayMs)]);
}

const END_WORKFLOWS = statement('work_end_workflows')`
  DELETE FROM work w USING unnest($1::text[], $2::timestamptz[]) AS s (id, due_at)
  WHERE ${IS_STILL_CLAIMED}`;

/** Records that the workflows of these final payments have ended. Work that changed since its claim stays unchanged. */
export async function endWorkflows(db: Queryable, ended: readonly LateWork[]): Promise<void> {
  if (ended.length > 0) await db.run(END_WORKFLOWS, claimsOf(ended));
}

// Its start is due at once, without the grace time for the process that recorded it.
const MARK_LOST = statement('work_mark_lost')`
  UPDATE work w SET is_started = false, due_at = s.updated_at
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS s (id, due_at, updated_at)
  WHERE ${IS_STILL_CLAIMED}`;

/** Marks work without a running workflow as unstarted. Work that changed since its claim stays unchanged. */
export async function markLost(db: Queryable, lost: readonly LateWork[]): Promise<void> {
  if (lost.length > 0) await db.run(MARK_LOST, [...claimsOf(lost), lost.map(({ updatedAt }) => updatedAt)]);
}

const MARK_STUCK = statement('work_mark_stuck')`
  UPDATE work w SET is_started = false, failures = w.failures + 1, due_at = ${leaseOf('$3')}
  WHERE w.id = $1 AND w.task = 'workflow' AND w.due_at = $2 RETURNING w.failures AS workflow_failures, w.due_at`;

export type StuckWork = Pick<LateWork, 'kind' | 'id' | 'merchantId' | 'dueAt'>;

/**
 * Marks work whose run cannot progress as unstarted, and counts a failure. It is not started within `leaseMs`, so that
 * its run is terminated first. Returns null, without a write, if the work changed since its claim.
 */
export async function markStuck(
  tx: Tx,
  { id, dueAt }: StuckWork,
  leaseMs: number,
): Promise<Pick<ClaimedWork, 'workflowFailures' | 'dueAt'> | null> {
  return findOne(tx, MARK_STUCK, [id, dueAt, leaseMs]);
}

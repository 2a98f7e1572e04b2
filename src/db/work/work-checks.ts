// Checks of work whose workflow was started: what is late, and what its check found.
import type { Work, WorkKind } from '../../domain/work.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { perKind } from './work-sources.ts';

/** Started work whose check is due, as it was when the check claimed it. */
export type LateWork = Work & { readonly workflowFailures: number; readonly updatedAt: Date };

// A delivery is late only when its next attempt is overdue by $3: until then the claim moves its check.
const DUE = { payment: 'true', delivery: 'w.next_attempt_at + make_interval(secs => $3 / 1000.0) <= now()' };
const NEXT = {
  payment: 'now() + make_interval(secs => $2 / 1000.0)',
  delivery: `greatest(now() + make_interval(secs => $2 / 1000.0),
                       w.next_attempt_at + make_interval(secs => $3 / 1000.0))`,
};

// Of the work that has been due for longest, the urgent first and then of each merchant in turn.
const WINDOW = 1000;

const CLAIM_LATE = perKind((kind, { table, isOf, columns, isUnfinished, isUrgent, checkDueAt }) => {
  const noun = kind === 'delivery' ? 'delivery' : 'payment';
  const isStarted = `${isOf} AND ${isUnfinished} AND w.workflow_started_at IS NOT NULL`;
  const urgentDueAt = kind === 'delivery' ? 'w.next_attempt_at' : 'w.check_due_at';
  const fields = `w.id, w.merchant_id, ${isUrgent} AS is_urgent, ${checkDueAt} AS due_at`;
  return statement(`${kind}_claim_late`)`
    WITH due AS (
      (SELECT ${fields} FROM ${table} w WHERE ${isUrgent} AND ${isStarted} AND ${urgentDueAt} <= now()
       ORDER BY ${urgentDueAt} LIMIT ${WINDOW})
      UNION
      (SELECT ${fields} FROM ${table} w WHERE ${isStarted} AND w.check_due_at <= now()
       ORDER BY w.check_due_at LIMIT ${WINDOW})),
    in_turn AS (
      SELECT id FROM due
      ORDER BY is_urgent DESC, row_number() OVER (PARTITION BY is_urgent, merchant_id ORDER BY due_at), due_at LIMIT $1),
    claimed AS (
      UPDATE ${table} w SET check_due_at = ${NEXT[noun]}
      WHERE w.id = ANY(ARRAY(SELECT w.id FROM ${table} w
                             WHERE w.id = ANY(ARRAY(SELECT id FROM in_turn)) AND ${isStarted} AND ${checkDueAt} <= now()
                             FOR UPDATE OF w SKIP LOCKED))
      RETURNING w.*)
    SELECT w.id, w.merchant_id, w.workflow_failures, w.updated_at, ${columns}
    FROM claimed w WHERE ${DUE[noun]} ORDER BY w.id`;
});

export type ClaimLate = {
  readonly limit: number;
  /** No other check claims the work before this has passed. */
  readonly leaseMs: number;
  /** How long the next attempt of a delivery may be overdue. */
  readonly overdueMs: number;
};

/** Claims up to `limit` rows whose workflow was started and has not recorded anything for longer than it should have. */
export async function claimLate(db: Queryable, kind: WorkKind, claim: ClaimLate): Promise<LateWork[]> {
  const values = [claim.limit, claim.leaseMs, ...(kind === 'delivery' ? [claim.overdueMs] : [])];
  const rows = await db.run<Omit<LateWork, 'kind'>>(CLAIM_LATE[kind], values);
  return rows.map((row) => ({ kind, ...row }) as LateWork);
}

const SCHEDULE_CHECKS = perKind(
  (kind, { table }) =>
    statement(`${kind}_schedule_checks`)`
    UPDATE ${table} w SET check_due_at = now() + make_interval(secs => s.delay_ms / 1000.0)
    FROM unnest($1::text[], $2::timestamptz[], $3::float8[]) AS s (id, updated_at, delay_ms)
    WHERE w.id = s.id AND w.updated_at = s.updated_at`,
);

/** When each of these is checked next. Work that changed since it was claimed is left as it is. */
export async function scheduleChecks(
  db: Queryable,
  kind: WorkKind,
  checks: readonly { readonly work: LateWork; readonly delayMs: number }[],
): Promise<void> {
  if (checks.length === 0) return;
  await db.run(SCHEDULE_CHECKS[kind], [
    checks.map(({ work }) => work.id),
    checks.map(({ work }) => work.updatedAt),
    checks.map(({ delayMs }) => delayMs),
  ]);
}

// Its start is due at once, without the time that a process gets for what it has just recorded.
const MARK_LOST = perKind(
  (kind, { table }) =>
    statement(`${kind}_mark_lost`)`
    UPDATE ${table} w SET workflow_started_at = NULL, start_due_at = w.updated_at
    FROM unnest($1::text[], $2::timestamptz[]) AS s (id, updated_at)
    WHERE w.id = s.id AND w.updated_at = s.updated_at`,
);

/** Marks work that no workflow runs for as unstarted. Work that changed since it was claimed is left as it is. */
export async function markLost(db: Queryable, kind: WorkKind, lost: readonly LateWork[]): Promise<void> {
  if (lost.length === 0) return;
  await db.run(MARK_LOST[kind], [lost.map(({ id }) => id), lost.map(({ updatedAt }) => updatedAt)]);
}

const MARK_STUCK = perKind(
  (kind, { table }) =>
    statement(`${kind}_mark_stuck`)`
    UPDATE ${table} w SET workflow_started_at = NULL, workflow_failures = w.workflow_failures + 1,
      start_due_at = now() + make_interval(secs => $3 / 1000.0)
    WHERE w.id = $1 AND w.updated_at = $2 RETURNING w.workflow_failures`,
);

/**
 * Marks work whose run cannot progress as unstarted, and counts a failure. It is not started within `leaseMs`, so that
 * nobody starts it before its run is terminated. Null, and nothing is written, when the work changed since it was claimed.
 */
export async function markStuck(tx: Tx, work: StuckWork, leaseMs: number): Promise<number | null> {
  const [row] = await tx.run<{ workflowFailures: number }>(MARK_STUCK[work.kind], [work.id, work.updatedAt, leaseMs]);
  return row?.workflowFailures ?? null;
}

export type StuckWork = Pick<LateWork, 'kind' | 'id' | 'merchantId' | 'updatedAt'>;

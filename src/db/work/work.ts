// Recorded work of all four kinds whose workflow is to be started: it is claimed, started or postponed.
import type { Work, WorkKind } from '../../domain/work.ts';
import { statement, type Queryable } from '../platform/database.ts';
import { perKind } from './work-sources.ts';

// Each merchant with due work gets an equal share of the claim, and at least one row, so a merchant with thousands of rows
// delays nobody; rechecks of final payments are claimed after all else. A merchant costs three steps in the index, however
// many rows it has. The rows are locked in a subquery of its own, because a window function may not lock. A range of one merchant,
// in the order of the index of unstarted work: for an equality PostgreSQL would take whichever index its statistics favour.
const CLAIM_UNSTARTED = perKind(
  (kind, { table, columns, isUnstarted, isUnfinished, startOrder }) =>
    statement(`${kind}_claim_unstarted`)`
    WITH RECURSIVE merchant AS (
      (SELECT w.merchant_id AS id FROM ${table} w WHERE ${isUnstarted} ORDER BY w.merchant_id LIMIT 1)
      UNION ALL
      SELECT (SELECT w.merchant_id FROM ${table} w WHERE ${isUnstarted} AND w.merchant_id > merchant.id
              ORDER BY w.merchant_id LIMIT 1)
      FROM merchant WHERE merchant.id IS NOT NULL),
    share AS (
      SELECT merchant.id AS merchant_id, greatest(1, $1 / count(*) OVER ()) AS size FROM merchant
      CROSS JOIN LATERAL (
        SELECT FROM ${table} w WHERE w.merchant_id >= merchant.id AND w.merchant_id <= merchant.id AND ${isUnstarted}
          AND w.start_due_at <= now() - make_interval(secs => $2 / 1000.0)
        ORDER BY w.merchant_id, ${startOrder} LIMIT 1) AS due),
    picked AS (
      SELECT due.id FROM share CROSS JOIN LATERAL (
        SELECT w.id, ${isUnfinished} AS is_unfinished FROM ${table} w
        WHERE w.merchant_id = share.merchant_id AND ${isUnstarted}
          AND w.start_due_at <= now() - make_interval(secs => $2 / 1000.0)
        ORDER BY ${startOrder} LIMIT share.size FOR UPDATE SKIP LOCKED) AS due
      ORDER BY due.is_unfinished DESC, random() LIMIT $1),
    claimed AS (
      UPDATE ${table} w SET start_due_at = now() + make_interval(secs => $3 / 1000.0)
      WHERE w.id = ANY(ARRAY(SELECT id FROM picked)) RETURNING w.*)
    SELECT w.id, w.merchant_id, w.workflow_failures, w.updated_at, ${columns} FROM claimed w ORDER BY w.id`,
);

/** Unstarted work that the caller has claimed, and how often in a row its workflow has failed to start or to progress. */
export type ClaimedWork = Work & { readonly workflowFailures: number; readonly updatedAt: Date };

export type ClaimUnstarted = {
  readonly limit: number;
  /** Work that became unstarted less than this ago is being started by the process that recorded it. */
  readonly graceMs: number;
  readonly leaseMs: number;
};

/**
 * Claims up to `limit` rows that no workflow is known to have been started for, of all merchants in turn. Until its lease
 * ends no other claim returns a row, so several dispatchers do not start the same work; a row whose dispatcher died is due
 * again after the lease.
 */
export async function claimUnstarted(db: Queryable, kind: WorkKind, claim: ClaimUnstarted): Promise<ClaimedWork[]> {
  const values = [claim.limit, claim.graceMs, claim.leaseMs];
  const rows = await db.run<Omit<ClaimedWork, 'kind'>>(CLAIM_UNSTARTED[kind], values);
  return rows.map((row) => ({ kind, ...row }) as ClaimedWork);
}

const POSTPONE_START = perKind(
  (kind, { table, isStillUnstarted }) =>
    statement(`${kind}_postpone_start`)`
    UPDATE ${table} w
    SET start_due_at = now() + make_interval(secs => s.delay_ms / 1000.0),
        workflow_failures = w.workflow_failures + s.failures, start_failures = w.start_failures + s.failures
    FROM unnest($1::text[], $2::float8[], $3::int[]) AS s (id, delay_ms, failures)
    WHERE w.id = s.id AND ${isStillUnstarted}`,
);

/** When claimed work that was not started is due again, and whether that counts as a failure of its own. */
export type PostponedStart = { readonly id: Work['id']; readonly delayMs: number; readonly isFailure: boolean };

/** Ends the claims of work that could not be started. A repeat counts a failure twice, which costs a longer wait. */
export async function postponeStarts(
  db: Queryable,
  kind: WorkKind,
  postponed: readonly PostponedStart[],
): Promise<void> {
  if (postponed.length === 0) return;
  await db.run(POSTPONE_START[kind], [
    postponed.map(({ id }) => id),
    postponed.map(({ delayMs }) => delayMs),
    postponed.map(({ isFailure }) => Number(isFailure)),
  ]);
}

// What waited long for its start is checked as soon after the start as it would have been after its creation. Failures to
// start are over; those of its runs count until the workflow records a change.
const MARK_STARTED = perKind(
  (kind, { table, isUnchanged, isStillUnstarted, checkAfterStart }) =>
    statement(`${kind}_mark_started`)`
    UPDATE ${table} w SET workflow_started_at = $4, start_due_at = now(), ${checkAfterStart},
      workflow_failures = greatest(0, w.workflow_failures - w.start_failures), start_failures = 0
    FROM unnest($1::text[], $2::timestamptz[], $3::int[]) AS s (id, updated_at, replay_count)
    WHERE w.id = s.id AND ${isUnchanged} AND ${isStillUnstarted}`,
);

/**
 * Records that workflows run for this work of one kind. A payout or refund that changed and a delivery that was replayed since stay
 * unstarted: their workflow does not know of it. Repeating it changes nothing; losing it costs one repeated start.
 */
export async function markStarted(
  db: Queryable,
  kind: WorkKind,
  started: readonly Work[],
  { at, checkInMs }: { readonly at: Date; readonly checkInMs: number },
): Promise<void> {
  if (started.length === 0) return;
  await db.run(MARK_STARTED[kind], [
    started.map(({ id }) => id),
    started.map((work) => ('updatedAt' in work ? work.updatedAt : null)),
    started.map((work) => (work.kind === 'delivery' ? work.replayCount : null)),
    at,
    checkInMs,
  ]);
}

// Work of all four kinds whose workflow must be started: it is claimed, started or postponed.
import { PRIORITY, type Work, type WorkKind } from '../../domain/work.ts';
import { columnsOf } from '../platform/columns.ts';
import { statement, type Queryable, type Statement } from '../platform/database.ts';

/**
 * Claimed work, as after the claim, and how often in a row its workflow has failed to start or to progress. `dueAt` is
 * the end of the claim. A caller ends the claim by this value, which has changed if anything happened since.
 */
export type ClaimedWork = Work & { readonly workflowFailures: number; readonly dueAt: Date };

/** `due_at` of a claim of this length. In milliseconds, as the caller has it, so that both can be compared. */
export const leaseOf = (ms: string): string =>
  `date_trunc('milliseconds', now() + make_interval(secs => ${ms} / 1000.0))`;
export const CLAIMED = 'w.id, w.merchant_id, w.failures AS workflow_failures, w.due_at';

/** The unchanged rows of a claim, for a source `s` of ids and ends of claims. */
export const IS_STILL_CLAIMED = "w.id = s.id AND w.task = 'workflow' AND w.due_at = s.due_at";
/** Its first two parameters. */
export const claimsOf = (claimed: readonly Pick<ClaimedWork, 'id' | 'dueAt'>[]): unknown[] =>
  columnsOf(claimed, 'id', 'dueAt');

/** A row for each of these kinds. */
export const eachOf = (kinds: readonly WorkKind[]): string => `unnest(ARRAY['${kinds.join("', '")}']) AS each (kind)`;

const READ_PAYMENTS = statement('work_read_payments')`
  SELECT id, idempotency_key, operator, state, updated_at, expires_at FROM payments WHERE id = ANY($1)`;
const READ_DELIVERIES = statement('work_read_deliveries')`
  SELECT id, endpoint_id, replay_count, next_attempt_at, updated_at FROM deliveries WHERE id = ANY($1)`;

/**
 * Runs the claim, and then reads the claimed rows in the order of ids. The read is a separate statement: it sees every
 * write before the claim, and a write after the claim has moved `due_at`.
 */
export async function claimAndRead<Claimed extends { readonly id: string }>(
  db: Queryable,
  { claim, read }: { readonly claim: Statement; readonly read: Statement },
  values: readonly unknown[],
): Promise<Claimed[]> {
  const claims = await db.run<Pick<Claimed, 'id'>>(claim, values);
  if (claims.length === 0) return [];
  const rows = await db.run<Pick<Claimed, 'id'>>(read, [claims.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return claims
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((claimed) => ({ ...byId.get(claimed.id), ...claimed }) as Claimed);
}

export async function claimWork(
  db: Queryable,
  kind: WorkKind,
  claim: Statement,
  values: readonly unknown[],
): Promise<ClaimedWork[]> {
  const read = kind === 'delivery' ? READ_DELIVERIES : READ_PAYMENTS;
  const claimed = await claimAndRead<ClaimedWork>(db, { claim, read }, values);
  return claimed.map((work) => ({ ...work, kind }) as ClaimedWork);
}

// Each merchant with due work gets an equal share of the claim, and at least one row, so a merchant with thousands of
// rows delays no other; work of final payments is claimed last. A merchant costs three steps in the index, however many
// rows it has. The rows are locked in a separate subquery, because a window function must not lock.
const CLAIM_UNSTARTED = statement('work_claim_unstarted')`
  WITH RECURSIVE merchant AS (
    (SELECT w.merchant_id AS id FROM work w WHERE w.kind = $4 AND NOT w.is_started ORDER BY w.merchant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT w.merchant_id FROM work w WHERE w.kind = $4 AND NOT w.is_started AND w.merchant_id > merchant.id
            ORDER BY w.merchant_id LIMIT 1)
    FROM merchant WHERE merchant.id IS NOT NULL),
  share AS (
    SELECT merchant.id AS merchant_id, greatest(1, $1 / count(*) OVER ()) AS size FROM merchant
    CROSS JOIN LATERAL (
      SELECT FROM work w WHERE w.kind = $4 AND w.merchant_id = merchant.id AND NOT w.is_started
        AND w.due_at <= now() - make_interval(secs => $2 / 1000.0)
      ORDER BY w.priority, w.due_at LIMIT 1) AS due),
  picked AS (
    SELECT due.id FROM share CROSS JOIN LATERAL (
      SELECT w.id, w.priority FROM work w
      WHERE w.kind = $4 AND w.merchant_id = share.merchant_id AND NOT w.is_started
        AND w.due_at <= now() - make_interval(secs => $2 / 1000.0)
      ORDER BY w.priority, w.due_at LIMIT share.size FOR UPDATE SKIP LOCKED) AS due
    ORDER BY due.priority = ${PRIORITY.final}, random() LIMIT $1)
  UPDATE work w SET due_at = ${leaseOf('$3')}
  WHERE w.task = 'workflow' AND w.id = ANY(ARRAY(SELECT id FROM picked)) RETURNING ${CLAIMED}`;

export type ClaimUnstarted = {
  readonly limit: number;
  /** Work that became unstarted more recently is being started by the process that recorded it. */
  readonly graceMs: number;
  readonly leaseMs: number;
};

/**
 * Claims up to `limit` rows without a known started workflow, of all merchants in turn. Until the lease ends no other
 * claim returns a row, so several dispatchers do not start the same work; a row of a dead dispatcher is due again after
 * the lease.
 */
export async function claimUnstarted(db: Queryable, kind: WorkKind, claim: ClaimUnstarted): Promise<ClaimedWork[]> {
  return claimWork(db, kind, CLAIM_UNSTARTED, [claim.limit, claim.graceMs, claim.leaseMs, kind]);
}

const POSTPONE_STARTS = statement('work_postpone_starts')`
  UPDATE work w
  SET due_at = ${leaseOf('s.delay_ms')}, failures = w.failures + s.failures, start_failures = w.start_failures + s.failures
  FROM unnest($1::text[], $2::timestamptz[], $3::float8[], $4::int[]) AS s (id, due_at, delay_ms, failures)
  WHERE ${IS_STILL_CLAIMED}`;

/** The claim of a failed start: when it is due again, and whether it counts as a failure of its own. */
export type PostponedStart = Pick<ClaimedWork, 'id' | 'dueAt'> & {
  readonly delayMs: number;
  readonly isFailure: boolean;
};

/** Ends the claims of work that could not be started. */
export async function postponeStarts(db: Queryable, postponed: readonly PostponedStart[]): Promise<void> {
  if (postponed.length === 0) return;
  await db.run(POSTPONE_STARTS, [
    ...claimsOf(postponed),
    postponed.map(({ delayMs }) => delayMs),
    postponed.map(({ isFailure }) => Number(isFailure)),
  ]);
}

// Failures to start are over; failures of its runs count until the workflow records a change.
const MARK_STARTED = statement('work_mark_started')`
  UPDATE work w SET is_started = true, due_at = ${leaseOf('s.check_in_ms')},
    failures = greatest(0, w.failures - w.start_failures), start_failures = 0
  FROM unnest($1::text[], $2::timestamptz[], $3::float8[]) AS s (id, due_at, check_in_ms)
  WHERE ${IS_STILL_CLAIMED}`;

/** Work whose workflow runs, with its `due_at` from before the start, and the time of its check. */
export type StartedWork = Pick<ClaimedWork, 'id' | 'dueAt'> & { readonly checkInMs: number };

/**
 * Records that workflows run for this work. Work that changed or was claimed since stays unchanged: a payout with a new
 * decision stays unstarted, because its workflow does not know it. A repeat changes nothing; a lost record costs one
 * repeated start.
 */
export async function markStarted(db: Queryable, started: readonly StartedWork[]): Promise<void> {
  if (started.length === 0) return;
  await db.run(MARK_STARTED, [...claimsOf(started), started.map(({ checkInMs }) => checkInMs)]);
}

// Checks of work whose workflow was started: what is late, what its check found, and rechecks of final payments.
import type { PaymentKind } from '../domain/payments/payment.ts';
import type { Work, WorkKind } from '../domain/work.ts';
import { statement, type Queryable, type Statement, type Tx } from './database.ts';
import { perKind, perPaymentKind, SOURCES } from './work-sources.ts';

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

const CLAIM_LATE = perKind((kind, { table, joined, columns, isUnfinished, isUrgent, checkDueAt }) => {
  const of = kind === 'delivery' ? 'delivery' : 'payment';
  const isStarted = `${isUnfinished} AND w.workflow_started_at IS NOT NULL`;
  const urgentDueAt = kind === 'delivery' ? 'w.next_attempt_at' : 'w.check_due_at';
  const fields = `w.id, w.merchant_id, ${isUrgent} AS is_urgent, ${checkDueAt} AS due_at`;
  return statement(
    `${kind}_claim_late`,
    `WITH due AS (
       (SELECT ${fields} FROM ${table} w WHERE ${isUrgent} AND ${isStarted} AND ${urgentDueAt} <= now()
        ORDER BY ${urgentDueAt} LIMIT ${WINDOW})
       UNION
       (SELECT ${fields} FROM ${table} w WHERE ${isStarted} AND w.check_due_at <= now()
        ORDER BY w.check_due_at LIMIT ${WINDOW})),
     in_turn AS (
       SELECT id FROM due
       ORDER BY is_urgent DESC, row_number() OVER (PARTITION BY is_urgent, merchant_id ORDER BY due_at), due_at LIMIT $1),
     claimed AS (
       UPDATE ${table} w SET check_due_at = ${NEXT[of]}
       WHERE w.id IN (SELECT w.id FROM ${table} w
                      WHERE w.id IN (SELECT id FROM in_turn) AND ${isStarted} AND ${checkDueAt} <= now()
                      FOR UPDATE OF w SKIP LOCKED)
       RETURNING w.*)
     SELECT w.id, w.merchant_id, w.workflow_failures, w.updated_at, ${columns}
     FROM claimed w ${joined} WHERE ${DUE[of]} ORDER BY w.id`,
  );
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

const SCHEDULE_CHECKS = perKind((kind, { table }) =>
  statement(
    `${kind}_schedule_checks`,
    `UPDATE ${table} w SET check_due_at = now() + make_interval(secs => s.delay_ms / 1000.0)
     FROM unnest($1::text[], $2::timestamptz[], $3::float8[]) AS s (id, updated_at, delay_ms)
     WHERE w.id = s.id AND w.updated_at = s.updated_at`,
  ),
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
const MARK_LOST = perKind((kind, { table }) =>
  statement(
    `${kind}_mark_lost`,
    `UPDATE ${table} w SET workflow_started_at = NULL, start_due_at = w.updated_at
     FROM unnest($1::text[], $2::timestamptz[]) AS s (id, updated_at)
     WHERE w.id = s.id AND w.updated_at = s.updated_at`,
  ),
);

/** Marks work that no workflow runs for as unstarted. Work that changed since it was claimed is left as it is. */
export async function markLost(db: Queryable, kind: WorkKind, lost: readonly LateWork[]): Promise<void> {
  if (lost.length === 0) return;
  await db.run(MARK_LOST[kind], [lost.map(({ id }) => id), lost.map(({ updatedAt }) => updatedAt)]);
}

const MARK_STUCK = perKind((kind, { table }) =>
  statement(
    `${kind}_mark_stuck`,
    `UPDATE ${table} w SET workflow_started_at = NULL, workflow_failures = w.workflow_failures + 1,
       start_due_at = now() + make_interval(secs => $3 / 1000.0)
     WHERE w.id = $1 AND w.updated_at = $2 RETURNING w.workflow_failures`,
  ),
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

function requeueStatement(kind: PaymentKind, nextCheck: string): Statement {
  const { table, isUnfinished } = SOURCES[kind];
  return statement(
    `${kind}_requeue_rechecks`,
    `UPDATE ${table} SET workflow_started_at = NULL, start_due_at = now(), check_due_at = ${nextCheck}
     WHERE id IN (SELECT w.id FROM ${table} w WHERE w.check_due_at <= $1 AND NOT ${isUnfinished}
                  ORDER BY w.check_due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
  );
}

// A recheck of a final payment is done once; what may still turn out to be paid is rechecked again at the next of the ages in
// $3, and those that have passed meanwhile are not made up for.
const atNextAge = (isRepeated: string) =>
  `CASE WHEN ${isRepeated} THEN (
     SELECT min(updated_at + make_interval(secs => age_ms / 1000.0)) FROM unnest($3::float8[]) AS ages (age_ms)
     WHERE updated_at + make_interval(secs => age_ms / 1000.0) > $1) END`;

const REQUEUE_RECHECKS = {
  collection: requeueStatement('collection', atNextAge(`state = 'expired'`)),
  payout: requeueStatement('payout', atNextAge(`failed_by = 'never_accepted'`)),
  reversal: requeueStatement('reversal', atNextAge(`failed_by = 'never_accepted'`)),
} as const satisfies Record<PaymentKind, Statement>;

export type DueRechecks = {
  readonly at: Date;
  /** How long ago a payment ended that may still turn out to be paid, when it is rechecked. */
  readonly lateCheckAgesMs: readonly number[];
  readonly limit: number;
};

/** Marks final payments whose recheck is due as unstarted, for the dispatcher to start their recheck; returns how many. */
export async function requeueRechecks(db: Queryable, kind: PaymentKind, due: DueRechecks): Promise<number> {
  return (await db.run(REQUEUE_RECHECKS[kind], [due.at, due.limit, due.lateCheckAgesMs])).length;
}

/** The recheck of a final payment whose run is checked; `recheckCheckDueAt` is when it is checked again. */
export type RecheckRun = LateWork & { readonly recheckCheckDueAt: Date };

// In milliseconds, as the caller has it, so that the two can be compared.
const CLAIM_RECHECK_RUNS = perPaymentKind((kind, { table, joined, columns }) =>
  statement(
    `${kind}_claim_recheck_runs`,
    `WITH claimed AS (
       UPDATE ${table} w
       SET recheck_check_due_at = date_trunc('milliseconds', now() + make_interval(secs => $2 / 1000.0))
       WHERE w.id IN (SELECT id FROM ${table} WHERE recheck_check_due_at <= now() AND workflow_started_at IS NOT NULL
                      ORDER BY recheck_check_due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING w.*)
     SELECT w.id, w.merchant_id, w.workflow_failures, w.updated_at, w.recheck_check_due_at, ${columns}
     FROM claimed w ${joined} ORDER BY w.id`,
  ),
);

/** Claims up to `limit` rechecks that were started some time ago. Each is checked again after `againMs`, until it has ended. */
export async function claimRecheckRuns(
  db: Queryable,
  kind: PaymentKind,
  { limit, againMs }: { readonly limit: number; readonly againMs: number },
): Promise<RecheckRun[]> {
  const rows = await db.run<Omit<RecheckRun, 'kind'>>(CLAIM_RECHECK_RUNS[kind], [limit, againMs]);
  return rows.map((row) => ({ kind, ...row }) as RecheckRun);
}

const END_RECHECKS = perPaymentKind((kind, { table }) =>
  statement(
    `${kind}_end_rechecks`,
    `UPDATE ${table} w SET recheck_check_due_at = NULL, workflow_failures = 0, start_failures = 0
     FROM unnest($1::text[], $2::timestamptz[]) AS s (id, check_due_at)
     WHERE w.id = s.id AND w.recheck_check_due_at = s.check_due_at AND w.workflow_started_at IS NOT NULL`,
  ),
);

/** Records that these rechecks have ended. A payment whose recheck was started again since they were claimed is left as it is. */
export async function endRechecks(db: Queryable, kind: PaymentKind, ended: readonly RecheckRun[]): Promise<void> {
  if (ended.length === 0) return;
  await db.run(END_RECHECKS[kind], [
    ended.map(({ id }) => id),
    ended.map(({ recheckCheckDueAt }) => recheckCheckDueAt),
  ]);
}

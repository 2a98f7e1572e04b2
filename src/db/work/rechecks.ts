// Rechecks of final payments: which are due, what a batch of them found, and the runs that record what was found.
import type { MerchantId } from '../../domain/ids.ts';
import type { Rechecked } from '../../domain/payments/late-checks.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { PAYMENT_KINDS, type PaymentId, type PaymentKind } from '../../domain/payments/payment.ts';
import { statement, type Queryable } from '../platform/database.ts';
import type { LateWork } from './work-checks.ts';
import { perPaymentKind, SOURCES } from './work-sources.ts';

const DUE_AT = 'coalesce(w.recheck_claimed_until, w.check_due_at)';

const finalAt = (kind: PaymentKind, operator: string) =>
  `FROM payments w WHERE ${SOURCES[kind].isOf} AND w.operator = ${operator} AND NOT ${SOURCES[kind].isUnfinished}`;

// One step in each index, however many are due.
const firstDueOf = (kind: PaymentKind) =>
  `(SELECT ${DUE_AT} ${finalAt(kind, 'asked.operator')} AND ${DUE_AT} IS NOT NULL ORDER BY ${DUE_AT} LIMIT 1)`;

const DUE_OF_ASKED = `FROM unnest($1::text[]) AS asked (operator)
   WHERE least(${PAYMENT_KINDS.map(firstDueOf).join(', ')}) <= now()`;
/** Whether a recheck is due of any of the operators $1. */
export const IS_ANY_RECHECK_DUE = `EXISTS (SELECT ${DUE_OF_ASKED})`;

const LIST_OPERATORS = statement('recheck_list_operators')`SELECT asked.operator ${DUE_OF_ASKED}`;

/** Those of the operators of which a recheck is due. */
export async function listOperatorsToRecheck(db: Queryable, operators: readonly OperatorId[]): Promise<OperatorId[]> {
  const rows = await db.run<{ operator: OperatorId }>(LIST_OPERATORS, [operators]);
  return rows.map(({ operator }) => operator);
}

const FIRST_DUE_AT = statement('recheck_first_due_at')`
  SELECT min(least(${PAYMENT_KINDS.map(firstDueOf).join(', ')})) AS due_at FROM unnest($1::text[]) AS asked (operator)`;

/** When the recheck that has waited longest, at any of the operators, was due, or the next one is; null when none awaits one. */
export async function firstRecheckDueAt(db: Queryable, operators: readonly OperatorId[]): Promise<Date | null> {
  const [row] = await db.run<{ dueAt: Date | null }>(FIRST_DUE_AT, [operators]);
  return row?.dueAt ?? null;
}

const REASON_OF_MONEY_OUT = `CASE WHEN w.failed_by = 'never_accepted' THEN 'may_be_paid'
  WHEN w.state = 'succeeded' THEN 'may_be_returned' END`;

const REASON: Readonly<Record<PaymentKind, string>> = {
  collection: `CASE w.state WHEN 'expired' THEN 'may_be_paid' WHEN 'succeeded' THEN 'may_be_returned' END`,
  payout: REASON_OF_MONEY_OUT,
  reversal: REASON_OF_MONEY_OUT,
};

// A callback that comes from now on sets check_due_at again. Times are in milliseconds, as the caller has them, so that they
// can be compared.
const CLAIM = perPaymentKind(
  (kind) =>
    statement(`${kind}_claim_rechecks`)`
    UPDATE payments w SET check_due_at = NULL,
      recheck_claimed_until = date_trunc('milliseconds', now() + make_interval(secs => $3 / 1000.0))
    WHERE w.id = ANY(ARRAY(SELECT w.id ${finalAt(kind, '$1')} AND ${DUE_AT} <= now()
                           ORDER BY ${DUE_AT} LIMIT $2 FOR UPDATE OF w SKIP LOCKED))
    RETURNING w.id, w.merchant_id, date_trunc('milliseconds', now()) AS claimed_at,
      date_trunc('milliseconds', w.updated_at) AS ended_at, w.recheck_claimed_until AS claimed_until,
      ${REASON[kind]} AS reason,
      (SELECT max(received_at) FROM operator_callbacks WHERE payment_id = w.id) AS called_back_at`,
);

/** A final payment that the caller rechecks; nobody else does before `claimedUntil`. */
export type ClaimedRecheck = Rechecked & {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  /** By the clock of the database, which may be ahead of ours: by it the recheck was due. */
  readonly claimedAt: Date;
  readonly claimedUntil: Date;
};

export type ClaimRechecks = {
  readonly operator: OperatorId;
  readonly limit: number;
  /** A recheck whose process died is due again after this. */
  readonly leaseMs: number;
};

/** Claims up to `limit` final payments of the operator whose recheck is due, those that have waited longest first. */
export async function claimRechecks(
  db: Queryable,
  kind: PaymentKind,
  { operator, limit, leaseMs }: ClaimRechecks,
): Promise<ClaimedRecheck[]> {
  return db.run<ClaimedRecheck>(CLAIM[kind], [operator, limit, leaseMs]);
}

const FINISH = perPaymentKind(
  (kind) =>
    statement(`${kind}_finish_rechecks`)`
    UPDATE payments w SET recheck_claimed_until = NULL,
      check_due_at = CASE WHEN date_trunc('milliseconds', w.updated_at) = s.ended_at
        THEN least(w.check_due_at, s.due_at) ELSE w.check_due_at END,
      workflow_started_at = CASE WHEN s.is_news THEN NULL ELSE w.workflow_started_at END,
      start_due_at = CASE WHEN s.is_news THEN now() ELSE w.start_due_at END
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::boolean[])
      AS s (id, ended_at, claimed_until, due_at, is_news)
    WHERE w.id = s.id AND w.recheck_claimed_until = s.claimed_until
    RETURNING w.id, w.check_due_at IS NULL AS is_over`,
);

export type FinishedRecheck = {
  readonly recheck: ClaimedRecheck;
  /** When it is rechecked next; null: only after a callback. */
  readonly dueAt: Date | null;
  /** Whether a workflow is to query the payment again, and to record what follows. */
  readonly isNews: boolean;
};

/**
 * Ends claims, and returns the payments that are rechecked no more, unless the operator calls back. One about which it called
 * back meanwhile is rechecked as soon as the callback says.
 */
export async function finishRechecks(
  db: Queryable,
  kind: PaymentKind,
  finished: readonly FinishedRecheck[],
): Promise<PaymentId[]> {
  const rows = await db.run<{ id: PaymentId; isOver: boolean }>(FINISH[kind], [
    finished.map(({ recheck }) => recheck.id),
    finished.map(({ recheck }) => recheck.endedAt),
    finished.map(({ recheck }) => recheck.claimedUntil),
    finished.map(({ dueAt }) => dueAt),
    finished.map(({ isNews }) => isNews),
  ]);
  return rows.filter(({ isOver }) => isOver).map(({ id }) => id);
}

/** The recheck of a final payment whose run is checked; `recheckCheckDueAt` is when it is checked again. */
export type RecheckRun = LateWork & { readonly recheckCheckDueAt: Date };

const CLAIM_RECHECK_RUNS = perPaymentKind(
  (kind, { isOf, columns }) =>
    statement(`${kind}_claim_recheck_runs`)`
    WITH claimed AS (
      UPDATE payments w
      SET recheck_check_due_at = date_trunc('milliseconds', now() + make_interval(secs => $2 / 1000.0))
      WHERE w.id = ANY(ARRAY(
        SELECT w.id FROM payments w WHERE ${isOf} AND w.recheck_check_due_at <= now() AND w.workflow_started_at IS NOT NULL
        ORDER BY w.recheck_check_due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
      RETURNING w.*)
    SELECT w.id, w.merchant_id, w.workflow_failures, w.updated_at, w.recheck_check_due_at, ${columns}
    FROM claimed w ORDER BY w.id`,
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

const END_RECHECKS = perPaymentKind(
  (kind) =>
    statement(`${kind}_end_rechecks`)`
    UPDATE payments w SET recheck_check_due_at = NULL, workflow_failures = 0, start_failures = 0
    FROM unnest($1::text[], $2::timestamptz[]) AS s (id, check_due_at)
    WHERE w.id = s.id AND w.recheck_check_due_at = s.check_due_at AND w.workflow_started_at IS NOT NULL`,
);

/** Records that these rechecks have ended. A payment whose recheck was started again since they were claimed is left as it is. */
export async function endRechecks(db: Queryable, kind: PaymentKind, ended: readonly RecheckRun[]): Promise<void> {
  if (ended.length === 0) return;
  await db.run(END_RECHECKS[kind], [
    ended.map(({ id }) => id),
    ended.map(({ recheckCheckDueAt }) => recheckCheckDueAt),
  ]);
}

// Rechecks of final payments: which are due, and what a batch of them found.
import type { MerchantId } from '../../domain/ids.ts';
import type { Rechecked } from '../../domain/payments/late-checks.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { PAYMENT_KINDS, type PaymentId, type PaymentKind } from '../../domain/payments/payment.ts';
import { PRIORITY } from '../../domain/work.ts';
import { statement, type Queryable } from '../platform/database.ts';
import { WORK_COLUMNS } from './work-rows.ts';
import { claimAndRead, eachOf, leaseOf } from './work.ts';

const DUE_AT = 'coalesce(w.claimed_until, w.due_at)';

// One step in the index for each kind, however many are due.
const FIRST_DUE_AT_OF_ASKED = `(SELECT min(first.due_at) FROM ${eachOf(PAYMENT_KINDS)} CROSS JOIN LATERAL (
     SELECT ${DUE_AT} AS due_at FROM work w WHERE w.operator = asked.operator AND w.kind = each.kind AND w.is_started IS NULL
     ORDER BY ${DUE_AT} LIMIT 1) AS first)`;
const DUE_OF_ASKED = `FROM unnest($1::text[]) AS asked (operator) WHERE ${FIRST_DUE_AT_OF_ASKED} <= now()`;
/** Whether a recheck is due of any of the operators $1. */
export const IS_ANY_RECHECK_DUE = `EXISTS (SELECT ${DUE_OF_ASKED})`;

const LIST_OPERATORS = statement('recheck_list_operators')`SELECT asked.operator ${DUE_OF_ASKED}`;

/** Those of the operators of which a recheck is due. */
export async function listOperatorsToRecheck(db: Queryable, operators: readonly OperatorId[]): Promise<OperatorId[]> {
  const rows = await db.run<{ operator: OperatorId }>(LIST_OPERATORS, [operators]);
  return rows.map(({ operator }) => operator);
}

const FIRST_DUE_AT = statement('recheck_first_due_at')`
  SELECT min(${FIRST_DUE_AT_OF_ASKED}) AS due_at FROM unnest($1::text[]) AS asked (operator)`;

/** When the recheck that has waited longest, at any of the operators, was due, or the next one is; null when none awaits one. */
export async function firstRecheckDueAt(db: Queryable, operators: readonly OperatorId[]): Promise<Date | null> {
  const [row] = await db.run<{ dueAt: Date | null }>(FIRST_DUE_AT, [operators]);
  return row?.dueAt ?? null;
}

// A callback that comes from now on sets due_at again.
const CLAIM = statement('recheck_claim')`
  UPDATE work w SET due_at = NULL, claimed_until = ${leaseOf('$4')}
  WHERE w.task = 'recheck' AND w.id = ANY(ARRAY(
    SELECT w.id FROM work w WHERE w.operator = $1 AND w.kind = $2 AND w.is_started IS NULL AND ${DUE_AT} <= now()
    ORDER BY ${DUE_AT} LIMIT $3 FOR UPDATE SKIP LOCKED))
  RETURNING w.id, w.merchant_id, date_trunc('milliseconds', now()) AS claimed_at, w.claimed_until`;

// Times are in milliseconds, as the caller has them, so that they can be compared.
const READ = statement('recheck_read')`
  SELECT p.id, date_trunc('milliseconds', p.updated_at) AS ended_at,
    CASE WHEN p.state = 'succeeded' THEN 'may_be_returned'
         WHEN p.failed_by = 'never_accepted' OR p.kind = 'collection' AND p.state = 'expired' THEN 'may_be_paid' END AS reason,
    (SELECT max(received_at) FROM operator_callbacks WHERE payment_id = p.id) AS called_back_at
  FROM payments p WHERE p.id = ANY($1)`;

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
  return claimAndRead<ClaimedRecheck>(db, { claim: CLAIM, read: READ }, [operator, kind, limit, leaseMs]);
}

// A payment that changed since it was claimed has another time for its next recheck.
const FINISH = statement('recheck_finish')`
  WITH finished AS (
    SELECT w.id, w.kind, w.merchant_id, w.operator, s.is_news,
      CASE WHEN date_trunc('milliseconds', p.updated_at) = s.ended_at THEN least(w.due_at, s.due_at) ELSE w.due_at END AS due_at
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::boolean[])
      AS s (id, ended_at, claimed_until, due_at, is_news)
    JOIN work w ON w.id = s.id AND w.task = 'recheck' AND w.claimed_until = s.claimed_until
    JOIN payments p ON p.id = s.id
    FOR UPDATE OF w),
  ended AS (
    DELETE FROM work w USING finished f WHERE w.id = f.id AND w.task = 'recheck' AND f.due_at IS NULL),
  kept AS (
    UPDATE work w SET claimed_until = NULL, due_at = f.due_at
    FROM finished f WHERE w.id = f.id AND w.task = 'recheck' AND f.due_at IS NOT NULL),
  workflow AS (
    INSERT INTO work (${WORK_COLUMNS})
    SELECT id, 'workflow', kind, merchant_id, operator, ${PRIORITY.final}, false, now() FROM finished WHERE is_news
    ON CONFLICT (id, task) DO UPDATE SET is_started = false, due_at = excluded.due_at)
  SELECT id, due_at IS NULL AS is_over FROM finished`;

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
export async function finishRechecks(db: Queryable, finished: readonly FinishedRecheck[]): Promise<PaymentId[]> {
  const rows = await db.run<{ id: PaymentId; isOver: boolean }>(FINISH, [
    finished.map(({ recheck }) => recheck.id),
    finished.map(({ recheck }) => recheck.endedAt),
    finished.map(({ recheck }) => recheck.claimedUntil),
    finished.map(({ dueAt }) => dueAt),
    finished.map(({ isNews }) => isNews),
  ]);
  return rows.filter(({ isOver }) => isOver).map(({ id }) => id);
}

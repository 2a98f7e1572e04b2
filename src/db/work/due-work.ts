// The work poll: one statement that says for which loops of a dispatcher there may be something to do.
import type { DueWork } from '../../domain/due-work.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { PAYMENT_KINDS, type PaymentKind } from '../../domain/payments/payment.ts';
import { WORK_KINDS, type WorkKind } from '../../domain/work.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { IS_ANY_RECHECK_DUE } from './rechecks.ts';
import { ENDPOINTS_WITH_BACKLOG, ENDPOINTS_WITH_RETRIES } from '../webhooks/delivery.ts';
import { SOURCES } from './work-sources.ts';

const anyOf = <Kind extends WorkKind>(kinds: readonly Kind[], condition: (kind: Kind) => string) =>
  `(${kinds.map(condition).join(' OR ')})`;

// Whether it is due its claim finds by merchant: here that would read all that is not due yet.
const isUnstarted = (kind: WorkKind) =>
  `EXISTS (SELECT FROM ${SOURCES[kind].table} w WHERE ${SOURCES[kind].isUnstarted})`;

// Each is the first entry of an index, in its order, which leaves PostgreSQL no other way to find it.
const isFirstDue = (kind: WorkKind, dueAt: string, condition: string) =>
  `coalesce((SELECT ${dueAt} FROM ${SOURCES[kind].table} w
             WHERE ${SOURCES[kind].isOf} AND ${condition} AND w.workflow_started_at IS NOT NULL ORDER BY ${dueAt} LIMIT 1) <= now(), false)`;
const isLate = (kind: WorkKind) => isFirstDue(kind, 'w.check_due_at', SOURCES[kind].isUnfinished);
const isRecheckLate = (kind: PaymentKind) =>
  isFirstDue(kind, 'w.recheck_check_due_at', 'w.recheck_check_due_at IS NOT NULL');
const IS_DELIVERY_WITHOUT_CHECK_LATE = isFirstDue(
  'delivery',
  'w.next_attempt_at',
  `${SOURCES.delivery.isUnfinished} AND ${SOURCES.delivery.isUrgent}`,
);

const isAny = (table: string, order: string) => `EXISTS (SELECT FROM ${table} ORDER BY ${order} LIMIT 1)`;

const FIND = statement('due_work_find')`
  WITH RECURSIVE ${ENDPOINTS_WITH_BACKLOG}, ${ENDPOINTS_WITH_RETRIES},
  owed AS MATERIALIZED (
    SELECT is_pending, e.state = 'enabled' AS is_enabled, e.failing_since IS NOT NULL AS is_failing
    FROM (SELECT endpoint_id, true AS is_pending FROM due UNION ALL SELECT endpoint_id, false FROM retried) AS owed
    CROSS JOIN LATERAL (SELECT state, failing_since FROM endpoints WHERE id = owed.endpoint_id LIMIT 1) AS e)
  SELECT EXISTS (SELECT FROM owed WHERE is_pending AND is_enabled AND NOT is_failing) AS attempts,
         ${anyOf(WORK_KINDS, isUnstarted)} AS starts,
         ${anyOf(WORK_KINDS, isLate)} OR ${IS_DELIVERY_WITHOUT_CHECK_LATE}
           OR ${anyOf(PAYMENT_KINDS, isRecheckLate)} OR ${IS_ANY_RECHECK_DUE} AS checks,
         EXISTS (SELECT FROM owed WHERE NOT is_enabled OR is_pending AND is_failing)
           OR EXISTS (SELECT FROM replays WHERE state = 'running') AS maintenance,
         ${isAny('audit_entries_to_link', 'entry_id')} AS audit_chains,
         ${isAny('payment_total_changes', 'id')} OR ${isAny('payment_moves', 'id')} AS totals`;

/**
 * What a claim, a check or a fold would find is always looked for; the reverse is not so. Of each queue it reads a few entries of an
 * index, however much waits, and one for each endpoint that is owed something.
 */
export async function findDueWork(db: Queryable, operators: readonly OperatorId[]): Promise<DueWork> {
  const found = await findOne<DueWork>(db, FIND, [operators]);
  if (found === null) throw new Error('the work poll returned no row');
  return found;
}

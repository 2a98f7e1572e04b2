// How much accepted work waits for the service: the input of backlog gate and metrics.
import type { MerchantBacklog } from '../../domain/backlog.ts';
import type { MerchantId } from '../../domain/ids.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment.ts';
import { QUARANTINE_AFTER, type WorkKind } from '../../domain/work.ts';
import { findOne, readCount, statement, type Queryable } from '../platform/database.ts';
import { eachOf } from './work.ts';

// Payments whose sending has not begun, started or not. Work that people or the operator must do next does not count, nor what waits for
// our float:
// while the breaker of its operator is not closed a payment is not late, and afterwards it gets the whole time again.
// Quarantined work says nothing about other work; neither does the age of work whose own workflow fails, or whose
// deadline has passed.
const MEASURE = statement('backlog_measure')`
  SELECT merchant_id, count(*)::int AS count,
         count(*) FILTER (WHERE is_timely AND since < now() - make_interval(secs => $3 / 1000.0))::int AS late_count,
         coalesce(extract(epoch FROM now() - min(since) FILTER (WHERE is_timely)) * 1000, 0)::float8 AS oldest_age_ms
  FROM ${eachOf(PAYMENT_KINDS)}
  CROSS JOIN LATERAL (
    SELECT waiting.merchant_id,
           greatest(CASE each.kind WHEN 'collection' THEN created_at ELSE updated_at END, breaker.changed_at) AS since,
           w.failures = 0 AND coalesce(send_deadline_at, expires_at) > now() AND coalesce(breaker.state, 'closed') = 'closed'
             AS is_timely
    FROM (
      SELECT * FROM payments p WHERE p.kind = each.kind AND p.state IN ('initiated', 'released') AND p.send_begun_at IS NULL
        AND p.send_generation = 1
      UNION ALL
      SELECT p.* FROM work unstarted JOIN payments p USING (id)
      WHERE unstarted.kind = each.kind AND NOT unstarted.is_started AND p.state = 'queued') AS waiting
    JOIN work w ON w.id = waiting.id AND w.task = 'workflow' AND w.failures < $2
    LEFT JOIN breakers breaker ON breaker.operator = waiting.operator
      AND breaker.product = CASE each.kind WHEN 'collection' THEN 'collection' ELSE 'disbursement' END
    LIMIT $1) AS waiting
  GROUP BY merchant_id`;

/** The waiting work by merchant: at most `limit` rows of each kind are counted, and no others are read. */
export async function measureBacklog(
  db: Queryable,
  { limit, lateAfterMs }: { readonly limit: number; readonly lateAfterMs: number },
): Promise<MerchantBacklog[]> {
  return db.run<MerchantBacklog>(MEASURE, [limit, QUARANTINE_AFTER, lateAfterMs]);
}

const COUNT_FAILING = statement('work_count_failing')`
  SELECT kind, count(*)::int AS failing, count(*) FILTER (WHERE failures >= $1)::int AS quarantined
  FROM work WHERE failures > 0 GROUP BY kind`;

export type FailingWork = {
  readonly kind: WorkKind;
  /** Work whose workflow failed to start or to progress at its last try, including quarantined work. */
  readonly failing: number;
  readonly quarantined: number;
};

/** Reads only the failing rows, of which there are normally none. */
export async function countFailingWork(db: Queryable): Promise<FailingWork[]> {
  return db.run<FailingWork>(COUNT_FAILING, [QUARANTINE_AFTER]);
}

const COUNT_REPLACED = statement('work_count_replaced')`
  SELECT count(*)::int AS count FROM audit_entries WHERE action LIKE '%.workflow_replaced'`;

/** How many runs all dispatchers have ever replaced. Reads an index that has no other entries. */
export async function countReplacedRuns(db: Queryable): Promise<number> {
  return readCount(db, COUNT_REPLACED, []);
}

// By the database's own clock and triggers, so that no process reports its own delay.
const MEASURE_AUDIT = statement('audit_lag_measure')`
  SELECT coalesce(extract(epoch FROM now() - (
           SELECT queued_at FROM audit_entries_to_link ORDER BY entry_id LIMIT 1)) * 1000, 0)::float8 AS unlinked_age_ms,
         coalesce(extract(epoch FROM now() - (
           SELECT min(unsigned_since) FROM audit_chains)) * 1000, 0)::float8 AS unsigned_age_ms`;

export type AuditLag = {
  /** How long the oldest audit entry without a link has waited; 0: there is none. */
  readonly unlinkedAgeMs: number;
  /** How long the oldest link that no head covers has existed; 0: there is none. */
  readonly unsignedAgeMs: number;
};

/** Reads only the oldest rows. */
export async function measureAuditLag(db: Queryable): Promise<AuditLag> {
  return (await findOne<AuditLag>(db, MEASURE_AUDIT, [])) ?? { unlinkedAgeMs: 0, unsignedAgeMs: 0 };
}

const LIST_QUARANTINED = statement('work_list_quarantined')`
  SELECT w.kind, w.id, w.merchant_id, w.failures AS workflow_failures, w.due_at,
         coalesce((SELECT state FROM payments WHERE id = w.id), (SELECT state FROM deliveries WHERE id = w.id)) AS state
  FROM work w WHERE w.failures >= $1 ORDER BY w.id LIMIT $2`;

export type QuarantinedWork = {
  readonly kind: WorkKind;
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly state: string;
  readonly workflowFailures: number;
  readonly dueAt: Date;
};

/** The quarantined work of all merchants, at most `limit`. */
export async function listQuarantinedWork(db: Queryable, limit: number): Promise<QuarantinedWork[]> {
  return db.run<QuarantinedWork>(LIST_QUARANTINED, [QUARANTINE_AFTER, limit]);
}

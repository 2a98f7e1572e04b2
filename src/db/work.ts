// Recorded work of all four kinds and its workflows: what is unstarted, what was started, what is stale, and how much waits.
import { WORK_KINDS, type Work, type WorkKind } from '../domain/work.ts';
import { statement, type Queryable, type Statement, type Tx } from './database.ts';

/** How the rows of one kind are found, as parts of the statements below. `w` is the row, `s` the work that was started. */
type Source = {
  readonly table: string;
  readonly from: string;
  /** The fields of its `Work`, but for kind, id and merchant. */
  readonly columns: string;
  readonly isUnstarted: string;
  /** What must still be as it was when the workflow was started or signalled. */
  readonly isUnchanged: string;
};

const SOURCES: Readonly<Record<WorkKind, Source>> = {
  collection: {
    table: 'collections',
    from: 'collections w',
    columns: 'w.idempotency_key, w.operator, w.state',
    isUnstarted: 'w.workflow_started_at IS NULL AND w.created_at < $1',
    isUnchanged: 'true',
  },
  payout: {
    table: 'payouts',
    from: 'payouts w',
    columns: 'w.idempotency_key, w.operator, w.state, w.updated_at',
    isUnstarted: 'w.workflow_started_at IS NULL AND w.updated_at < $1',
    isUnchanged: 'w.updated_at = s.updated_at',
  },
  reversal: {
    table: 'reversals',
    from: 'reversals w JOIN collections c ON c.id = w.collection_id',
    columns: 'c.operator, w.state',
    isUnstarted: 'w.workflow_started_at IS NULL AND w.created_at < $1',
    isUnchanged: 'true',
  },
  delivery: {
    table: 'deliveries',
    from: 'deliveries w',
    columns: 'w.endpoint_id, w.replay_count',
    isUnstarted: `w.state = 'retrying' AND w.workflow_started_at IS NULL AND w.created_at < $1`,
    isUnchanged: 'w.replay_count = s.replay_count',
  },
};

const perKind = (make: (kind: WorkKind, source: Source) => Statement) =>
  Object.fromEntries(WORK_KINDS.map((kind) => [kind, make(kind, SOURCES[kind])])) as Record<WorkKind, Statement>;

const LIST_UNSTARTED = perKind((kind, { from, columns, isUnstarted }) =>
  statement(
    `${kind}_list_unstarted`,
    `SELECT w.id, w.merchant_id, ${columns} FROM ${from} WHERE ${isUnstarted} ORDER BY w.id LIMIT $2`,
  ),
);

/** The oldest work recorded (payouts: changed) before then that no workflow is known to have been started for. */
export async function listUnstarted(
  db: Queryable,
  kind: WorkKind,
  recordedBefore: Date,
  limit: number,
): Promise<Work[]> {
  const rows = await db.run<Omit<Work, 'kind'>>(LIST_UNSTARTED[kind], [recordedBefore, limit]);
  return rows.map((row) => ({ kind, ...row }) as Work);
}

const MARK_STARTED = perKind((kind, { table, isUnchanged }) =>
  statement(
    `${kind}_mark_started`,
    `UPDATE ${table} w SET workflow_started_at = $4
     FROM unnest($1::text[], $2::timestamptz[], $3::int[]) AS s (id, updated_at, replay_count)
     WHERE w.id = s.id AND ${isUnchanged} AND w.workflow_started_at IS NULL`,
  ),
);

/**
 * Records that workflows run for this work of one kind. A payout that changed and a delivery that was replayed since stay
 * unstarted: their workflow does not know of it. Repeating it changes nothing; losing it costs one repeated start.
 */
export async function markStarted(db: Queryable, kind: WorkKind, started: readonly Work[], at: Date): Promise<void> {
  if (started.length === 0) return;
  await db.run(MARK_STARTED[kind], [
    started.map(({ id }) => id),
    started.map((work) => (work.kind === 'payout' ? work.updatedAt : null)),
    started.map((work) => (work.kind === 'delivery' ? work.replayCount : null)),
    at,
  ]);
}

// New payments alone: what the sweep requeued, which moved its next check, says nothing of what can be accepted.
const MEASURE_BACKLOG = statement(
  'work_measure_backlog',
  `SELECT count(*)::int AS count, extract(epoch FROM now() - min(created_at)) * 1000 AS oldest_age_ms
   FROM (
     (SELECT created_at FROM collections
      WHERE workflow_started_at IS NULL AND state = 'initiated' AND check_due_at = prompt_deadline_at
      ORDER BY id LIMIT $1)
     UNION ALL
     (SELECT created_at FROM payouts
      WHERE workflow_started_at IS NULL AND state = 'queued' AND check_due_at = expires_at AND updated_at = created_at
      ORDER BY id LIMIT $1)) AS unstarted`,
);

export type Backlog = { readonly count: number; readonly oldestAgeMs: number };

/** How many new collections and payouts wait for their first workflow, counted up to `limit` each, and the oldest's age. */
export async function measureBacklog(db: Queryable, limit: number): Promise<Backlog> {
  const [row] = await db.run<{ count: number; oldestAgeMs: string | null }>(MEASURE_BACKLOG, [limit]);
  return { count: row?.count ?? 0, oldestAgeMs: Math.max(0, Number(row?.oldestAgeMs ?? 0)) };
}

const requeueDue = (table: string, nextCheck: string) =>
  `UPDATE ${table} SET workflow_started_at = NULL, check_due_at = ${nextCheck}
   WHERE id IN (SELECT id FROM ${table} WHERE check_due_at <= $1 ORDER BY check_due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING id`;

// A recheck of a final payment is done once; an expired collection is rechecked at intervals until $5.
const REQUEUE_STALE = {
  collection: statement(
    'collection_requeue_stale',
    requeueDue(
      'collections',
      `CASE WHEN state IN ('succeeded', 'failed') THEN NULL WHEN state <> 'expired' THEN $3::timestamptz
            WHEN updated_at >= $5 THEN $4::timestamptz END`,
    ),
  ),
  payout: statement(
    'payout_requeue_stale',
    requeueDue('payouts', `CASE WHEN state IN ('queued', 'released', 'reconciling') THEN $3::timestamptz END`),
  ),
  reversal: statement(
    'reversal_requeue_stale',
    requeueDue('reversals', `CASE WHEN state IN ('requested', 'reconciling') THEN $3::timestamptz END`),
  ),
  delivery: statement(
    'delivery_requeue_stale',
    `UPDATE deliveries SET workflow_started_at = NULL
     WHERE id IN (SELECT id FROM deliveries WHERE state = 'retrying' AND workflow_started_at < $1 AND next_attempt_at < $1
                  ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
  ),
} as const satisfies Record<WorkKind, Statement>;

export type StaleWork = {
  readonly at: Date;
  /** Deliveries whose next attempt and last start are older than this are stale. */
  readonly dueBefore: Date;
  readonly nextCheckAt: Date;
  readonly nextLateCheckAt: Date;
  /** For collections that expired before this the present check is the last. */
  readonly expiredBefore: Date;
  readonly limit: number;
};

/** Marks stale work as unstarted, for the dispatcher to start again where no workflow is open; returns how many. */
export async function requeueStale(tx: Tx, kind: WorkKind, stale: StaleWork): Promise<number> {
  const { at, dueBefore, nextCheckAt, nextLateCheckAt, expiredBefore, limit } = stale;
  const values = {
    collection: [at, limit, nextCheckAt, nextLateCheckAt, expiredBefore],
    payout: [at, limit, nextCheckAt],
    reversal: [at, limit, nextCheckAt],
    delivery: [dueBefore, limit],
  } as const satisfies Record<WorkKind, readonly unknown[]>;
  return (await tx.run(REQUEUE_STALE[kind], values[kind])).length;
}

// How the rows of each kind of work are found: the parts that the statements of work.ts and work-checks.ts share.
import { WORK_KINDS, type WorkKind } from '../domain/work.ts';
import type { Statement } from './database.ts';

/** `w` is the row, `s` the work that was started. */
export type Source = {
  readonly table: string;
  /** What is joined to a claimed row `w`. */
  readonly joined: string;
  /** The fields of its `Work`, but for kind, id, merchant and time of the last change. */
  readonly columns: string;
  readonly isUnstarted: string;
  /** What must still be as it was when the workflow was started or signalled. */
  readonly isUnchanged: string;
  /** Whether a workflow has yet to act on it. */
  readonly isUnfinished: string;
  /** When it is checked next, once it is started: $5 milliseconds later, where it is still to be sent. */
  readonly checkAfterStart: string;
};

const FROM_NOW = 'now() + make_interval(secs => $5 / 1000.0)';
const afterStart = (unsent: string) =>
  `CASE WHEN w.state = '${unsent}' THEN greatest(w.check_due_at, ${FROM_NOW}) ELSE w.check_due_at END`;

export const SOURCES: Readonly<Record<WorkKind, Source>> = {
  collection: {
    table: 'collections',
    joined: '',
    columns: 'w.idempotency_key, w.operator, w.state',
    isUnstarted: 'w.workflow_started_at IS NULL',
    isUnchanged: 'true',
    isUnfinished: `w.state IN ('initiated', 'prompted', 'reconciling')`,
    checkAfterStart: afterStart('initiated'),
  },
  payout: {
    table: 'payouts',
    joined: '',
    columns: 'w.idempotency_key, w.operator, w.state',
    isUnstarted: 'w.workflow_started_at IS NULL',
    isUnchanged: 'w.updated_at = s.updated_at',
    isUnfinished: `w.state IN ('queued', 'released', 'reconciling')`,
    checkAfterStart: afterStart('released'),
  },
  reversal: {
    table: 'reversals',
    joined: 'JOIN collections c ON c.id = w.collection_id',
    columns: 'c.operator, w.state',
    isUnstarted: 'w.workflow_started_at IS NULL',
    isUnchanged: 'true',
    isUnfinished: `w.state IN ('requested', 'reconciling')`,
    checkAfterStart: afterStart('requested'),
  },
  delivery: {
    table: 'deliveries',
    joined: '',
    columns: 'w.endpoint_id, w.replay_count',
    isUnstarted: `w.state = 'retrying' AND w.workflow_started_at IS NULL`,
    isUnchanged: 'w.replay_count = s.replay_count',
    isUnfinished: `w.state = 'retrying'`,
    checkAfterStart: `greatest(w.next_attempt_at, now()) + make_interval(secs => $5 / 1000.0)`,
  },
};

export const perKind = (make: (kind: WorkKind, source: Source) => Statement) =>
  Object.fromEntries(WORK_KINDS.map((kind) => [kind, make(kind, SOURCES[kind])])) as Record<WorkKind, Statement>;

/** The rows of every kind that fulfil the condition, each with its kind and these columns. */
export const unionOfKinds = (columns: string, condition: string) =>
  WORK_KINDS.map((kind) => `SELECT '${kind}' AS kind, ${columns} FROM ${SOURCES[kind].table} WHERE ${condition}`).join(
    ' UNION ALL ',
  );

// How the rows of each kind of work are found: the parts that the statements of work.ts and work-checks.ts share.
import { PAYMENT_KINDS, type PaymentKind } from '../../domain/payments/payment.ts';
import { WORK_KINDS, type WorkKind } from '../../domain/work.ts';
import type { Statement } from '../platform/database.ts';

/** `w` is the row, `s` the work that was started. */
export type Source = {
  readonly table: string;
  /** Which rows of the table are of this kind. */
  readonly isOf: string;
  /** The fields of its `Work`, but for kind, id, merchant and time of the last change. */
  readonly columns: string;
  readonly isUnstarted: string;
  /** The same of a row that is looked up by its id. */
  readonly isStillUnstarted: string;
  /** What must still be as it was when the workflow was started or signalled. */
  readonly isUnchanged: string;
  /** Whether a workflow has yet to act on it. */
  readonly isUnfinished: string;
  /** In which order unstarted work of a merchant is started: rechecks of final payments come last. */
  readonly startOrder: string;
  /** Started work that is checked first: what is still to be sent, and deliveries without a time for their check. */
  readonly isUrgent: string;
  /** When started work is checked. */
  readonly checkDueAt: string;
  /** Sets when it is checked next, once it is started: $5 milliseconds later, where it is still to be sent. */
  readonly checkAfterStart: string;
};

// In words that no index answers: while its statistics say that a queue is empty, PostgreSQL would read the whole queue to find
// the rows of one batch, and not each by its id.
const HAS_NO_WORKFLOW = 'num_nulls(w.workflow_started_at) = 1';

const FROM_NOW = 'now() + make_interval(secs => $5 / 1000.0)';
// As in the indexes, word by word: of each kind the states in which something is awaited.
const UNFINISHED = `w.state IN ('initiated', 'prompted', 'queued', 'released', 'reconciling')`;
const UNSENT = `w.state IN ('initiated', 'released')`;

/** The payments of one kind. */
function paymentsOf(kind: PaymentKind): Source {
  const isOfKind = `w.kind = '${kind}'`;
  return {
    table: 'payments',
    columns: `${kind === 'reversal' ? '' : 'w.idempotency_key, '}w.operator, w.state`,
    isOf: isOfKind,
    isUnstarted: `${isOfKind} AND w.workflow_started_at IS NULL`,
    isStillUnstarted: HAS_NO_WORKFLOW,
    // Only a payout or refund changes by a decision of which its workflow is signalled.
    isUnchanged: kind === 'collection' ? 'true' : 'w.updated_at = s.updated_at',
    isUnfinished: UNFINISHED,
    startOrder: `(${UNFINISHED}) DESC, w.start_due_at`,
    isUrgent: UNSENT,
    checkDueAt: 'w.check_due_at',
    // A recheck has a check of its own: its payment's next recheck may be due before or after it, or never.
    checkAfterStart: `check_due_at = CASE WHEN ${UNSENT} THEN greatest(w.check_due_at, ${FROM_NOW}) ELSE w.check_due_at END,
      recheck_check_due_at = CASE WHEN ${UNFINISHED} THEN NULL ELSE ${FROM_NOW} END`,
  };
}

export const SOURCES: Readonly<Record<WorkKind, Source>> = {
  collection: paymentsOf('collection'),
  payout: paymentsOf('payout'),
  reversal: paymentsOf('reversal'),
  delivery: {
    table: 'deliveries',
    isOf: 'true',
    columns: 'w.endpoint_id, w.replay_count',
    isUnstarted: `w.state = 'retrying' AND w.workflow_started_at IS NULL`,
    isStillUnstarted: `w.state || '' = 'retrying' AND ${HAS_NO_WORKFLOW}`,
    isUnchanged: 'w.replay_count = s.replay_count',
    isUnfinished: `w.state = 'retrying'`,
    startOrder: 'w.start_due_at',
    isUrgent: 'w.check_due_at IS NULL',
    checkDueAt: 'coalesce(w.check_due_at, w.next_attempt_at)',
    checkAfterStart: `check_due_at = greatest(w.next_attempt_at, now()) + make_interval(secs => $5 / 1000.0)`,
  },
};

type Make<Kind extends WorkKind> = (kind: Kind, source: Source) => Statement;

export const perKind = (make: Make<WorkKind>) => statementsOf(WORK_KINDS, make);
export const perPaymentKind = (make: Make<PaymentKind>) => statementsOf(PAYMENT_KINDS, make);

function statementsOf<Kind extends WorkKind>(kinds: readonly Kind[], make: Make<Kind>): Record<Kind, Statement> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind, SOURCES[kind])])) as Record<Kind, Statement>;
}

/** The rows of every kind that fulfil the condition, each with its kind and these columns. */
export const workOfAllKinds = (columns: string, condition: string) =>
  `SELECT kind, ${columns} FROM payments WHERE ${condition}
   UNION ALL SELECT 'delivery', ${columns} FROM deliveries WHERE ${condition}`;

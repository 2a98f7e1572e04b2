// Figures of the whole service, which the metrics read at a cost that no number of payments changes.
import { isFinal, PAYMENT_KINDS, type PaymentKind, type PaymentState } from '../domain/payments/payment.ts';
import { COLLECTION_STATES } from '../domain/payments/collection.ts';
import type { DiscrepancyKind } from '../domain/payments/discrepancy.ts';
import { PAYOUT_STATES } from '../domain/payments/payout.ts';
import { REVERSAL_STATES } from '../domain/payments/reversal.ts';
import { PRIORITY, WORK_KINDS, type WorkKind } from '../domain/work.ts';
import { findOne, readCount, statement, type Queryable } from './platform/database.ts';
import { eachOf } from './work/work.ts';

const LIST_FIGURES = statement('service_figures_list')`
  SELECT kind, operator, state, sum(entered - exited)::float8 AS present, sum(entered)::float8 AS entered
  FROM payment_figures GROUP BY kind, operator, state`;

/** `kind` may be `delivery`, whose dead-lettered ones alone are counted. */
export type PaymentFigure = {
  readonly kind: WorkKind;
  readonly operator: string;
  readonly state: string;
  readonly present: number;
  readonly entered: number;
};

/** As last folded: what happened since is not in it. A row for each kind, operator and state. */
export async function listPaymentFigures(db: Queryable): Promise<PaymentFigure[]> {
  return db.run<PaymentFigure>(LIST_FIGURES, []);
}

const LIST_DURATIONS = statement('service_figures_list_durations')`
  SELECT kind, operator, state, at_most_seconds, entered::float8 AS count, seconds FROM payment_figures
  WHERE at_most_seconds IS NOT NULL ORDER BY kind, operator, state, at_most_seconds`;

export type DurationFigure = {
  readonly kind: PaymentKind;
  readonly operator: string;
  readonly state: string;
  /** How many took so long at most, and longer than the bound below. */
  readonly atMostSeconds: number;
  readonly count: number;
  readonly seconds: number;
};

/** As last folded. A row for each kind, operator, state and bound. */
export async function listDurationFigures(db: Queryable): Promise<DurationFigure[]> {
  return db.run<DurationFigure>(LIST_DURATIONS, []);
}

const AGE = (since: string) => `coalesce(extract(epoch FROM now() - ${since}), 0)::float8`;
const STATES: Readonly<Record<PaymentKind, readonly PaymentState[]>> = {
  collection: COLLECTION_STATES,
  payout: PAYOUT_STATES,
  reversal: REVERSAL_STATES,
};

/** The states in which something is awaited of a payment, by kind. */
export const AWAITING = PAYMENT_KINDS.flatMap((kind) =>
  STATES[kind].filter((state) => !isFinal(state)).map((state) => ({ kind, state })),
);

// One entry of an index for each kind and state.
const LIST_OLDEST = statement('service_figures_list_oldest')`${AWAITING.map(
  ({ kind, state }) =>
    `SELECT '${kind}' AS kind, '${state}' AS state, ${AGE(`(
         SELECT updated_at FROM payments WHERE kind = '${kind}' AND state = '${state}' ORDER BY updated_at LIMIT 1)`)} AS age_seconds`,
).join(' UNION ALL ')}`;

export type OldestPayment = {
  readonly kind: PaymentKind;
  readonly state: PaymentState;
  /** Since its last change; 0 where none is in the state. */
  readonly ageSeconds: number;
};

/** Reads the oldest of each alone. */
export async function listOldestPayments(db: Queryable): Promise<OldestPayment[]> {
  return db.run<OldestPayment>(LIST_OLDEST, []);
}

/** Counts at most `limit` rows of each table, so that the cost has a bound however many rows have piled up. */
const counted = (columns: string, table: string, condition: string) =>
  `(SELECT ${columns} FROM ${table} WHERE ${condition} LIMIT $1) AS counted`;

const LIST_UNSTARTED = statement('service_figures_list_unstarted')`
  SELECT each.kind, count(counted.updated_at)::int AS count, ${AGE('min(counted.updated_at)')} AS age_seconds
  FROM ${eachOf(WORK_KINDS)} LEFT JOIN LATERAL (
    SELECT coalesce((SELECT updated_at FROM payments WHERE id = w.id), (SELECT updated_at FROM deliveries WHERE id = w.id))
      AS updated_at
    FROM work w WHERE w.kind = each.kind AND NOT w.is_started AND w.priority < ${PRIORITY.final} LIMIT $1) AS counted ON true
  GROUP BY each.kind`;

export type UnstartedWork = { readonly kind: WorkKind; readonly count: number; readonly ageSeconds: number };

/** Work whose workflow is not started yet, or still lacks the signal of a decision. Counts up to `limit` of a kind. */
export async function listUnstartedWork(db: Queryable, limit: number): Promise<UnstartedWork[]> {
  return db.run<UnstartedWork>(LIST_UNSTARTED, [limit]);
}

const FIND_DELIVERIES = statement('service_figures_find_deliveries')`
  SELECT pending, pending_age_seconds, retrying FROM
    (SELECT count(*)::int AS pending, ${AGE('min(next_attempt_at)')} AS pending_age_seconds
     FROM ${counted('next_attempt_at', 'deliveries', `state = 'pending'`)}) AS pending,
    (SELECT count(*)::int AS retrying FROM ${counted('1', 'deliveries', `state = 'retrying'`)}) AS retrying`;

export type DeliveryFigures = {
  readonly pending: number;
  /** For how long the oldest of those counted has been due. */
  readonly pendingAgeSeconds: number;
  readonly retrying: number;
};

/** Counts up to `limit` of each. */
export async function findDeliveryFigures(db: Queryable, limit: number): Promise<DeliveryFigures> {
  const found = await findOne<DeliveryFigures>(db, FIND_DELIVERIES, [limit]);
  return found ?? { pending: 0, pendingAgeSeconds: 0, retrying: 0 };
}

const LIST_DISABLED = statement('service_figures_list_disabled')`
  SELECT disabled_reason AS reason, count(*)::int AS count
  FROM ${counted('disabled_reason', 'endpoints', `state = 'disabled' AND deleted_at IS NULL`)} GROUP BY disabled_reason`;

export type DisabledEndpoints = { readonly reason: string; readonly count: number };

/** Counts up to `limit`. */
export async function listDisabledEndpoints(db: Queryable, limit: number): Promise<DisabledEndpoints[]> {
  return db.run<DisabledEndpoints>(LIST_DISABLED, [limit]);
}

const LIST_DISCREPANCIES = statement('service_figures_list_discrepancies')`
  SELECT kind, count(*)::int AS count, ${AGE('min(found_at)')} AS age_seconds
  FROM ${counted('kind, found_at', 'discrepancies', 'settled_at IS NULL')} GROUP BY kind`;

export type OpenDiscrepancies = { readonly kind: DiscrepancyKind; readonly count: number; readonly ageSeconds: number };

/** Discrepancies that nobody has settled. Counts up to `limit`. */
export async function listOpenDiscrepancies(db: Queryable, limit: number): Promise<OpenDiscrepancies[]> {
  return db.run<OpenDiscrepancies>(LIST_DISCREPANCIES, [limit]);
}

const COUNT_UNMATCHED = statement('service_figures_count_unmatched')`
  SELECT count(*)::int AS count
  FROM ${counted(
    '1',
    'operator_callbacks c',
    `c.operator_reference IS NOT NULL
       AND NOT EXISTS (SELECT FROM payments p WHERE p.operator_reference = c.operator_reference)
       AND NOT EXISTS (SELECT FROM send_generations g WHERE g.operator_reference = c.operator_reference)`,
  )}`;

/** Callbacks about payments that we sent and that are not on record. Counts up to `limit`. */
export function countUnmatchedCallbacks(db: Queryable, limit: number): Promise<number> {
  return readCount(db, COUNT_UNMATCHED, [limit]);
}

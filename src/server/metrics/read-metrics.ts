// The metrics that are read from the database: the same in every process, whatever its roles.
import { DISCREPANCY_KINDS } from '../../domain/payments/discrepancy.ts';
import { OPERATOR_IDS } from '../../domain/payments/operator-catalogue.ts';
import { COLLECTION_STATES } from '../../domain/payments/collection.ts';
import { PAYMENT_KINDS } from '../../domain/payments/payment.ts';
import { PAYOUT_STATES } from '../../domain/payments/payout.ts';
import { REVERSAL_STATES } from '../../domain/payments/reversal.ts';
import { HOUSEKEEPING_TASKS } from '../../domain/housekeeping.ts';
import { COUNTED_UP_TO, DURATION_BOUNDS_SECONDS } from '../../domain/service-figures.ts';
import { SHOWN_DISABLED_REASONS } from '../../domain/webhooks/endpoint.ts';
import { WORK_KINDS } from '../../domain/work.ts';
import { AWAITING, type DurationFigure } from '../../db/service-figures.ts';
import type { ServiceFigures } from '../../operations/read-service-figures.ts';
import type { MetricDescription } from './metric-description.ts';

type Labels = Readonly<Record<string, string>>;

/** One line of a scrape. `suffix` is that of a line of a histogram. */
export type Sample = { readonly labels: Labels; readonly value: number; readonly suffix?: string };

export type ReadMetric = MetricDescription & { readonly read: (figures: ServiceFigures) => readonly Sample[] };

const PAYMENT_STATES = [...new Set<string>([...COLLECTION_STATES, ...PAYOUT_STATES, ...REVERSAL_STATES])];
const PAYMENT = { kind: PAYMENT_KINDS, operator: OPERATOR_IDS, state: PAYMENT_STATES };
const UP_TO = `; counted up to ${COUNTED_UP_TO} of each`;

const one = (value: number): Sample[] => [{ labels: {}, value }];

/** A line for every value, those without a row too: a series that is missing cannot be told from a process that is. */
function forEach<Row>(
  label: string,
  values: readonly string[],
  rows: readonly Row[],
  { valueOf, read }: { readonly valueOf: (row: Row) => string; readonly read: (row: Row) => number },
): Sample[] {
  return values.map((value) => {
    const row = rows.find((each) => valueOf(each) === value);
    return { labels: { [label]: value }, value: row === undefined ? 0 : read(row) };
  });
}

const STATES_OF: Readonly<Record<(typeof PAYMENT_KINDS)[number], readonly string[]>> = {
  collection: COLLECTION_STATES,
  payout: PAYOUT_STATES,
  reversal: REVERSAL_STATES,
};

function paymentSamples({ payments }: ServiceFigures, read: 'present' | 'entered'): Sample[] {
  return PAYMENT_KINDS.flatMap((kind) =>
    OPERATOR_IDS.flatMap((operator) =>
      STATES_OF[kind].map((state) => {
        const found = payments.find((row) => row.kind === kind && row.operator === operator && row.state === state);
        return { labels: { kind, operator, state }, value: found?.[read] ?? 0 };
      }),
    ),
  );
}

/** The cumulative buckets of each kind, operator and state that any payment ended in. */
function durationSamples({ durations }: ServiceFigures): Sample[] {
  const groups = new Map<string, DurationFigure[]>();
  for (const row of durations) {
    const key = `${row.kind} ${row.operator} ${row.state}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].flatMap((rows) => {
    const labels = labelsOf(rows[0]);
    const upTo = (bound: number) =>
      rows.filter((row) => row.atMostSeconds <= bound).reduce((sum, row) => sum + row.count, 0);
    return [
      ...DURATION_BOUNDS_SECONDS.map((bound) => ({
        labels: { ...labels, le: String(bound) },
        value: upTo(bound),
        suffix: '_bucket',
      })),
      { labels: { ...labels, le: '+Inf' }, value: upTo(Infinity), suffix: '_bucket' },
      { labels, value: rows.reduce((sum, row) => sum + row.seconds, 0), suffix: '_sum' },
      { labels, value: upTo(Infinity), suffix: '_count' },
    ];
  });
}

function labelsOf(row: DurationFigure | undefined): Labels {
  return row === undefined ? {} : { kind: row.kind, operator: row.operator, state: row.state };
}

const PAYMENT_METRICS: readonly ReadMetric[] = [
  {
    name: 'malipo_payments',
    type: 'gauge',
    help: 'Payments that are in the state now, as last folded by a dispatcher',
    labels: PAYMENT,
    read: (figures) => paymentSamples(figures, 'present'),
  },
  {
    name: 'malipo_payment_changes_total',
    type: 'counter',
    help: 'Payments that ever came into the state, as last folded by a dispatcher',
    labels: PAYMENT,
    read: (figures) => paymentSamples(figures, 'entered'),
  },
  {
    name: 'malipo_payment_duration_seconds',
    type: 'histogram',
    help: 'Time to the first outcome: of a collection since its creation, of a payout or reversal since its send began',
    labels: PAYMENT,
    read: durationSamples,
  },
  {
    name: 'malipo_payments_oldest_age_seconds',
    type: 'gauge',
    help: 'Time since the last change of the payment that has been in the state for longest; 0 without one',
    labels: { kind: PAYMENT_KINDS, state: [...new Set(AWAITING.map(({ state }) => state))] },
    read: ({ oldest }) =>
      AWAITING.map(({ kind, state }) => ({
        labels: { kind, state },
        value: oldest.find((row) => row.kind === kind && row.state === state)?.ageSeconds ?? 0,
      })),
  },
];

const BACKLOG_METRICS: readonly ReadMetric[] = [
  {
    name: 'malipo_backlog',
    type: 'gauge',
    help: 'Accepted payments that wait to be processed',
    labels: {},
    read: ({ backlog }) => one(backlog.count),
  },
  {
    name: 'malipo_backlog_late',
    type: 'gauge',
    help: 'Accepted payments that have waited longer than the limit; from ten on, no new payments are accepted',
    labels: {},
    read: ({ backlog }) => one(backlog.lateCount),
  },
  {
    name: 'malipo_backlog_oldest_age_seconds',
    type: 'gauge',
    help: 'Age of the oldest waiting payment',
    labels: {},
    read: ({ backlog }) => one(backlog.oldestAgeMs / 1000),
  },
  {
    name: 'malipo_backlog_full_merchants',
    type: 'gauge',
    help: 'Merchants whose new payments are refused because of their own backlog',
    labels: {},
    read: ({ backlog }) => one(backlog.fullMerchants.size),
  },
  {
    name: 'malipo_work_unstarted',
    type: 'gauge',
    help: `Work whose workflow is not yet started, or has not received a decision${UP_TO}`,
    labels: { kind: WORK_KINDS },
    read: ({ unstarted }) =>
      forEach('kind', WORK_KINDS, unstarted, { valueOf: ({ kind }) => kind, read: ({ count }) => count }),
  },
  {
    name: 'malipo_work_unstarted_oldest_age_seconds',
    type: 'gauge',
    help: 'Time since the last change of the oldest work counted; 0 without any',
    labels: { kind: WORK_KINDS },
    read: ({ unstarted }) =>
      forEach('kind', WORK_KINDS, unstarted, { valueOf: ({ kind }) => kind, read: ({ ageSeconds }) => ageSeconds }),
  },
  {
    name: 'malipo_workflows_stuck',
    type: 'gauge',
    help: 'Work whose workflow does not start or does not progress',
    labels: { kind: WORK_KINDS },
    read: ({ failing }) =>
      forEach('kind', WORK_KINDS, failing, { valueOf: ({ kind }) => kind, read: (row) => row.failing }),
  },
  {
    name: 'malipo_workflows_quarantined',
    type: 'gauge',
    help: 'Work that failed so often that it is retried once an hour: npm run staff -- quarantined',
    labels: { kind: WORK_KINDS },
    read: ({ failing }) =>
      forEach('kind', WORK_KINDS, failing, { valueOf: ({ kind }) => kind, read: ({ quarantined }) => quarantined }),
  },
  {
    name: 'malipo_workflows_replaced_total',
    type: 'counter',
    help: 'Runs that could not progress and were replaced, by all servers',
    labels: {},
    read: ({ replacedRuns }) => one(replacedRuns),
  },
];

const DELIVERY_METRICS: readonly ReadMetric[] = [
  {
    name: 'malipo_deliveries_pending',
    type: 'gauge',
    help: `Deliveries whose first attempt is due${UP_TO}`,
    labels: {},
    read: ({ deliveries }) => one(deliveries.pending),
  },
  {
    name: 'malipo_deliveries_pending_oldest_age_seconds',
    type: 'gauge',
    help: 'For how long the oldest delivery counted has been due; 0 without any',
    labels: {},
    read: ({ deliveries }) => one(deliveries.pendingAgeSeconds),
  },
  {
    name: 'malipo_deliveries_retrying',
    type: 'gauge',
    help: `Deliveries that were not accepted and are retried${UP_TO}`,
    labels: {},
    read: ({ deliveries }) => one(deliveries.retrying),
  },
  {
    name: 'malipo_deliveries_dead_lettered_total',
    type: 'counter',
    help: 'Deliveries that were given up since counting began, as last folded by a dispatcher',
    labels: {},
    read: ({ payments }) => one(payments.find(({ kind }) => kind === 'delivery')?.entered ?? 0),
  },
  {
    name: 'malipo_endpoints_disabled',
    type: 'gauge',
    help: `Endpoints that receive nothing because they are disabled, by reason${UP_TO}`,
    labels: { reason: SHOWN_DISABLED_REASONS },
    read: ({ disabledEndpoints }) =>
      forEach('reason', SHOWN_DISABLED_REASONS, disabledEndpoints, {
        valueOf: ({ reason }) => reason,
        read: ({ count }) => count,
      }),
  },
];

const BOOK_METRICS: readonly ReadMetric[] = [
  {
    name: 'malipo_discrepancies_open',
    type: 'gauge',
    help: `Discrepancies with an operator that nobody has settled${UP_TO}`,
    labels: { kind: DISCREPANCY_KINDS },
    read: ({ discrepancies }) =>
      forEach('kind', DISCREPANCY_KINDS, discrepancies, { valueOf: ({ kind }) => kind, read: ({ count }) => count }),
  },
  {
    name: 'malipo_discrepancies_oldest_age_seconds',
    type: 'gauge',
    help: 'For how long the oldest discrepancy counted has been known; 0 without any',
    labels: { kind: DISCREPANCY_KINDS },
    read: ({ discrepancies }) =>
      forEach('kind', DISCREPANCY_KINDS, discrepancies, {
        valueOf: ({ kind }) => kind,
        read: ({ ageSeconds }) => ageSeconds,
      }),
  },
  {
    name: 'malipo_housekeeping_done_as_of_timestamp_seconds',
    type: 'gauge',
    help: 'Time up to which the task is done, in Unix time; 0 before its first run',
    labels: { task: HOUSEKEEPING_TASKS },
    read: ({ housekeeping }) =>
      forEach('task', HOUSEKEEPING_TASKS, housekeeping, {
        valueOf: ({ task }) => task,
        read: ({ doneAsOf }) => doneAsOf.getTime() / 1000,
      }),
  },
  {
    name: 'malipo_housekeeping_faults',
    type: 'gauge',
    help: 'Faults that the last check found: sums that do not add up, unsettled discrepancies, undecided payouts',
    labels: { task: HOUSEKEEPING_TASKS },
    read: ({ housekeeping }) =>
      forEach('task', HOUSEKEEPING_TASKS, housekeeping, { valueOf: ({ task }) => task, read: ({ faults }) => faults }),
  },
  {
    name: 'malipo_audit_unlinked_oldest_age_seconds',
    type: 'gauge',
    help: 'For how long the oldest audit entry without a link has waited; 0 when none does',
    labels: {},
    read: ({ audit }) => one(audit.unlinkedAgeMs / 1000),
  },
  {
    name: 'malipo_audit_unsigned_oldest_age_seconds',
    type: 'gauge',
    help: 'Age of the oldest link of an audit log that no signature covers; 0 when there is none',
    labels: {},
    read: ({ audit }) => one(audit.unsignedAgeMs / 1000),
  },
];

export const READ_METRICS: readonly ReadMetric[] = [
  ...PAYMENT_METRICS,
  ...BACKLOG_METRICS,
  ...DELIVERY_METRICS,
  ...BOOK_METRICS,
];

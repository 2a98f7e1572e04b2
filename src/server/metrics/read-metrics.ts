// The metrics from the database: the same in every process, whatever its roles.
import { DISCREPANCY_KINDS } from '../../domain/payments/discrepancy.ts';
import { PRODUCTS } from '../../domain/payments/breaker.ts';
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

/** One line of a scrape. `suffix`: the suffix of a line of a histogram. */
export type Sample = { readonly labels: Labels; readonly value: number; readonly suffix?: string };

export type ReadMetric = MetricDescription & { readonly read: (figures: ServiceFigures) => readonly Sample[] };

const STATES_OF: Readonly<Record<(typeof PAYMENT_KINDS)[number], readonly string[]>> = {
  collection: COLLECTION_STATES,
  payout: PAYOUT_STATES,
  reversal: REVERSAL_STATES,
};
const PAYMENT_STATES = [...new Set(Object.values(STATES_OF).flat())];
const PAYMENT = { kind: PAYMENT_KINDS, operator: OPERATOR_IDS, state: PAYMENT_STATES };
const UP_TO = `; counted up to ${COUNTED_UP_TO} of each`;

function gauge(name: string, help: string, valueOf: (figures: ServiceFigures) => number): ReadMetric {
  return { name, type: 'gauge', help, labels: {}, read: (figures) => [{ labels: {}, value: valueOf(figures) }] };
}

function counter(...described: Parameters<typeof gauge>): ReadMetric {
  return { ...gauge(...described), type: 'counter' };
}

type GaugeOfRows<Row> = readonly [name: string, help: string, valueOf: (row: Row) => number];

/** Gauges with a line for each value of the label, even without a row: else the process would seem missing. */
function gaugesPer<Label extends string, Row extends Readonly<Record<Label, string>>>(
  label: Label,
  values: readonly string[],
  rowsOf: (figures: ServiceFigures) => readonly Row[],
  gauges: readonly GaugeOfRows<Row>[],
): ReadMetric[] {
  return gauges.map(([name, help, valueOf]) => ({
    name,
    type: 'gauge',
    help,
    labels: { [label]: values },
    read: (figures) =>
      values.map((value) => {
        const row = rowsOf(figures).find((each) => each[label] === value);
        return { labels: { [label]: value }, value: row === undefined ? 0 : valueOf(row) };
      }),
  }));
}

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

/** The cumulative buckets of each kind, operator and state in which any payment ended. */
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
  gauge('malipo_backlog', 'Accepted payments that wait to be processed', ({ backlog }) => backlog.count),
  gauge(
    'malipo_backlog_late',
    'Accepted payments that have waited longer than the limit; from ten on, no new payments are accepted',
    ({ backlog }) => backlog.lateCount,
  ),
  gauge(
    'malipo_backlog_oldest_age_seconds',
    'Age of the oldest waiting payment',
    ({ backlog }) => backlog.oldestAgeMs / 1000,
  ),
  gauge(
    'malipo_backlog_full_merchants',
    'Merchants whose new payments are refused because of their own backlog',
    ({ backlog }) => backlog.fullMerchants.size,
  ),
  ...gaugesPer('kind', WORK_KINDS, ({ unstarted }) => unstarted, [
    [
      'malipo_work_unstarted',
      `Work whose workflow is not yet started, or has not received a decision${UP_TO}`,
      ({ count }) => count,
    ],
    [
      'malipo_work_unstarted_oldest_age_seconds',
      'Time since the last change of the oldest work counted; 0 without any',
      ({ ageSeconds }) => ageSeconds,
    ],
  ]),
  ...gaugesPer('kind', WORK_KINDS, ({ failing }) => failing, [
    ['malipo_workflows_stuck', 'Work whose workflow does not start or does not progress', ({ failing }) => failing],
    [
      'malipo_workflows_quarantined',
      'Work that failed so often that it is retried once an hour: npm run staff -- quarantined',
      ({ quarantined }) => quarantined,
    ],
  ]),
  ...gaugesPer('operator', OPERATOR_IDS, ({ overdueQueries }) => overdueQueries, [
    [
      'malipo_status_queries_overdue',
      'Status queries that have been due for more than five seconds',
      ({ count }) => count,
    ],
    [
      'malipo_status_queries_overdue_oldest_age_seconds',
      'By how much the intervals between status queries stretch: for how long the oldest one has been due; 0 when none is overdue',
      ({ oldestMs }) => oldestMs / 1000,
    ],
  ]),
  {
    name: 'malipo_breaker_open',
    type: 'gauge',
    help: '1 while the breaker of this product is open or half-open: one probe after each pause is the only call',
    labels: { operator: OPERATOR_IDS, product: PRODUCTS },
    read: ({ breakers }) =>
      OPERATOR_IDS.flatMap((operator) =>
        PRODUCTS.map((product) => ({
          labels: { operator, product },
          value: breakers.some((open) => open.operator === operator && open.product === product) ? 1 : 0,
        })),
      ),
  },
  counter(
    'malipo_workflows_replaced_total',
    'Runs that could not progress and were replaced, by all servers',
    ({ replacedRuns }) => replacedRuns,
  ),
];

const DELIVERY_METRICS: readonly ReadMetric[] = [
  gauge(
    'malipo_deliveries_pending',
    `Deliveries whose first attempt is due${UP_TO}`,
    ({ deliveries }) => deliveries.pending,
  ),
  gauge(
    'malipo_deliveries_pending_oldest_age_seconds',
    'For how long the oldest delivery counted has been due; 0 without any',
    ({ deliveries }) => deliveries.pendingAgeSeconds,
  ),
  gauge(
    'malipo_deliveries_retrying',
    `Deliveries that were not accepted and are retried${UP_TO}`,
    ({ deliveries }) => deliveries.retrying,
  ),
  counter(
    'malipo_deliveries_dead_lettered_total',
    'Deliveries that were given up since counting began, as last folded by a dispatcher',
    ({ payments }) => payments.find(({ kind }) => kind === 'delivery')?.entered ?? 0,
  ),
  ...gaugesPer('reason', SHOWN_DISABLED_REASONS, ({ disabledEndpoints }) => disabledEndpoints, [
    [
      'malipo_endpoints_disabled',
      `Endpoints that receive nothing because they are disabled, by reason${UP_TO}`,
      ({ count }) => count,
    ],
  ]),
];

const BOOK_METRICS: readonly ReadMetric[] = [
  ...gaugesPer('kind', DISCREPANCY_KINDS, ({ discrepancies }) => discrepancies, [
    [
      'malipo_discrepancies_open',
      `Discrepancies with an operator that nobody has settled${UP_TO}`,
      ({ count }) => count,
    ],
    [
      'malipo_discrepancies_oldest_age_seconds',
      'For how long the oldest discrepancy counted has been known; 0 without any',
      ({ ageSeconds }) => ageSeconds,
    ],
  ]),
  gauge(
    'malipo_callbacks_unmatched',
    `Operators’ callbacks about payments that were sent and are not on record${UP_TO}`,
    ({ unmatchedCallbacks }) => unmatchedCallbacks,
  ),
  ...gaugesPer('task', HOUSEKEEPING_TASKS, ({ housekeeping }) => housekeeping, [
    [
      'malipo_housekeeping_done_as_of_timestamp_seconds',
      'Time up to which the task is done, in Unix time; 0 before its first run',
      ({ doneAsOf }) => doneAsOf.getTime() / 1000,
    ],
    [
      'malipo_housekeeping_faults',
      'Faults that the last check found: sums that do not add up, unsettled discrepancies, undecided payouts',
      ({ faults }) => faults,
    ],
  ]),
  gauge(
    'malipo_in_recovery',
    '1 while the service is in recovery after a restore of the database, 0 otherwise',
    ({ fence }) => Number(fence.isInRecovery),
  ),
  gauge(
    'malipo_fence_age_seconds',
    'Since the last write of the fence: beyond 5 nothing is sent',
    ({ fence }) => fence.ageSeconds,
  ),
  gauge(
    'malipo_audit_unlinked_oldest_age_seconds',
    'For how long the oldest audit entry without a link has waited; 0 when none does',
    ({ audit }) => audit.unlinkedAgeMs / 1000,
  ),
  gauge(
    'malipo_audit_unsigned_oldest_age_seconds',
    'Age of the oldest link of an audit log that no signature covers; 0 when there is none',
    ({ audit }) => audit.unsignedAgeMs / 1000,
  ),
];

export const READ_METRICS: readonly ReadMetric[] = [
  ...PAYMENT_METRICS,
  ...BACKLOG_METRICS,
  ...DELIVERY_METRICS,
  ...BOOK_METRICS,
];

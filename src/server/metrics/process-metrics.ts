// The metrics that a process counts and times by itself: requests, calls, attempts, and its database connections.
import { STATUS_CODES } from 'node:http';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { REQUEST_METHODS, type AnsweredRequest } from '../../api/middleware/measure.ts';
import { OPERATOR_IDS } from '../../domain/payments/operator-catalogue.ts';
import type { PoolWatch } from '../../db/platform/watched-pool.ts';
import type { Attempt } from '../../domain/webhooks/delivery.ts';
import { OPERATOR_CALLS, OPERATOR_RESULTS, type MeasuredCall } from './measured-calls.ts';
import { ROLES } from '../../settings/config.ts';
import { OTHER, type MetricDescription } from './metric-description.ts';

/** The pools of database connections: for requests and activities, and for what is claimed from queues and recorded in batches. */
export const POOL_NAMES = ['main', 'queues'] as const;
export type PoolName = (typeof POOL_NAMES)[number];
/** By the class of the status, because a receiver may answer any number. */
export const ATTEMPT_RESULTS = ['1xx', '2xx', '3xx', '4xx', '5xx', OTHER, 'no_answer'] as const;

/** `routes` are the templates of the routes, and what stands for all other paths. */
export function processMetricsOf(routes: readonly string[]) {
  const call = { operator: OPERATOR_IDS, call: OPERATOR_CALLS };
  const pool = { pool: POOL_NAMES };
  return {
    role: described(
      'malipo_process_role',
      'gauge',
      '1 where the process works in the role: while the schema of the database fits',
      { role: ROLES },
    ),
    readable: described(
      'malipo_database_readable',
      'gauge',
      'Whether this process could read the database for this scrape; if not, the metrics from the database are missing',
    ),
    connected: described('malipo_temporal_connected', 'gauge', 'Whether this process ever reached Temporal'),
    requests: described('malipo_http_requests_total', 'counter', 'Responses of the API', {
      method: REQUEST_METHODS,
      route: routes,
      status: Object.keys(STATUS_CODES),
    }),
    requestSeconds: described(
      'malipo_http_request_duration_seconds',
      'histogram',
      'Time to the response; for a stream, to its beginning',
      { method: REQUEST_METHODS, route: routes },
    ),
    calls: described('malipo_operator_calls_total', 'counter', 'Calls to operators, with the requests for a token', {
      ...call,
      result: OPERATOR_RESULTS,
    }),
    callSeconds: described('malipo_operator_call_duration_seconds', 'histogram', 'Time of a call to an operator', call),
    attempts: described('malipo_webhook_attempts_total', 'counter', 'Attempts to deliver webhooks, by result', {
      result: ATTEMPT_RESULTS,
    }),
    attemptSeconds: described('malipo_webhook_attempt_duration_seconds', 'histogram', 'Time of an attempt'),
    poolSize: described('malipo_database_pool_max_connections', 'gauge', 'Connections that the pool may open', pool),
    poolConnections: described('malipo_database_pool_connections', 'gauge', 'Connections that are open', {
      ...pool,
      state: ['busy', 'idle'],
    }),
    poolWaiting: described('malipo_database_pool_waiting', 'gauge', 'Callers that are waiting for a connection', pool),
    poolWaitSeconds: described(
      'malipo_database_pool_wait_duration_seconds',
      'histogram',
      'Time that a caller waited for a connection',
      pool,
    ),
    poolFailures: described(
      'malipo_database_pool_failures_total',
      'counter',
      'Callers that got no connection: none was free in time, or the server refused a new one',
      pool,
    ),
    requestsLost: described(
      'malipo_request_log_lost_total',
      'counter',
      'Requests of API keys that this process left out of the request log',
    ),
    refusals: described('malipo_person_refusals_total', 'counter', 'Requests in a session that this process refused'),
    connectionsRefused: described(
      'malipo_http_connections_refused_total',
      'counter',
      'Connections to the API that were refused or ended: too many in total, too many from one address, or without a request',
    ),
  } as const;
}

function described<Labels extends MetricDescription['labels']>(
  name: string,
  type: MetricDescription['type'],
  help: string,
  labels: Labels = {} as Labels,
) {
  return { name, type, help, labels } satisfies MetricDescription;
}

const FAST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const REMOTE_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60];
const WAIT_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

export type ProcessMetrics = {
  readonly requestAnswered: (request: AnsweredRequest) => void;
  readonly operatorCalled: (call: MeasuredCall) => void;
  readonly webhookAttempted: (attempt: Attempt) => void;
  readonly poolWaited: (pool: PoolName) => PoolWatch;
};

/** Counts from now on, into the registry. */
export function countProcess(registry: Registry): ProcessMetrics {
  const all = processMetricsOf([]);
  const registers = [registry];
  const options = ({ name, help, labels }: MetricDescription) => ({
    name,
    help,
    labelNames: Object.keys(labels),
    registers,
  });
  const requests = new Counter(options(all.requests));
  const requestSeconds = new Histogram({ ...options(all.requestSeconds), buckets: FAST_BUCKETS });
  const calls = new Counter(options(all.calls));
  const callSeconds = new Histogram({ ...options(all.callSeconds), buckets: REMOTE_BUCKETS });
  const attempts = new Counter(options(all.attempts));
  const attemptSeconds = new Histogram({ ...options(all.attemptSeconds), buckets: REMOTE_BUCKETS });
  const waits = new Histogram({ ...options(all.poolWaitSeconds), buckets: WAIT_BUCKETS });
  const failures = new Counter(options(all.poolFailures));
  // Known results begin at 0, so that the first failure is an increase and not a new series.
  for (const operator of OPERATOR_IDS) {
    for (const call of OPERATOR_CALLS) calls.inc({ operator, call, result: 'unknown' }, 0);
  }
  for (const result of ATTEMPT_RESULTS) attempts.inc({ result }, 0);
  for (const pool of POOL_NAMES) failures.inc({ pool }, 0);
  return {
    requestAnswered({ method, route, status, seconds }) {
      requests.inc({ method, route, status: String(status) });
      requestSeconds.observe({ method, route }, seconds);
    },
    operatorCalled({ operator, call, result, seconds }) {
      calls.inc({ operator, call, result });
      callSeconds.observe({ operator, call }, seconds);
    },
    webhookAttempted({ result, durationMs }) {
      attempts.inc({ result: result.kind === 'answered' ? classOf(result.statusCode) : 'no_answer' });
      attemptSeconds.observe(durationMs / 1000);
    },
    poolWaited: (pool) => (wait) => {
      waits.observe({ pool }, wait.seconds);
      if (wait.isFailure) failures.inc({ pool });
    },
  };
}

function classOf(status: number): string {
  return status >= 100 && status < 600 ? `${Math.floor(status / 100)}xx` : OTHER;
}

export function showGauge(registry: Registry, { name, help, labels }: MetricDescription, read: (gauge: Gauge) => void) {
  new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    registers: [registry],
    collect() {
      read(this);
    },
  });
}

/** A total that something else counts, read at each scrape. */
export function showTotal(registry: Registry, { name, help }: MetricDescription, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}

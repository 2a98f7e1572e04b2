// Prometheus metrics on a separate port, which must not be public.
import type { RequestListener } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createHttpServer } from '../api/http-server.ts';
import type { Backlog } from '../dispatcher/backlog-gate.ts';
import { HOUSEKEEPING_TASKS, type Housekeeping } from '../domain/housekeeping.ts';
import { WORK_KINDS } from '../domain/work.ts';
import type { Log } from '../log.ts';
import { HTTP_LIMITS, listenOn } from './http-listener.ts';

/** What a process counts by itself. */
type Counts = {
  /** How many requests were left out of the request log. */
  readonly requestsLost: () => number;
  /** How many requests of people were refused. */
  readonly refusals: () => number;
};

type MetricsListenerOptions = {
  readonly host: string;
  readonly port: number;
  readonly backlog: () => Backlog;
  readonly counts: Counts;
  /** Of every response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Log;
};

export async function startMetricsListener({
  host,
  port,
  backlog,
  counts,
  headers,
  log,
}: MetricsListenerOptions): Promise<{ stop(): Promise<void> }> {
  const registry = createRegistry(backlog, counts);
  const handle: RequestListener = (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  };
  const server = createHttpServer({ limits: HTTP_LIMITS, handle, headers, log });
  await listenOn(server, port, host, (error) => {
    log.error({ error }, 'the metrics listener could not accept a connection');
  });
  return {
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const GAUGES: Readonly<Record<string, readonly [help: string, read: (measured: Backlog) => number]>> = {
  malipo_backlog: ['Accepted payments that wait for the service to carry them out', ({ count }) => count],
  malipo_backlog_late: ['Those that have waited longer than the limit', ({ lateCount }) => lateCount],
  malipo_backlog_oldest_age_seconds: ['Age of the oldest of them', ({ oldestAgeMs }) => oldestAgeMs / 1000],
  malipo_workflows_replaced_total: [
    'Runs that could not progress and were replaced, by all servers',
    ({ replacedRuns }) => replacedRuns,
  ],
  malipo_backlog_full_merchants: [
    'Merchants that are refused new payments because of their own backlog',
    ({ fullMerchants }) => fullMerchants,
  ],
  malipo_audit_unlinked_oldest_age_seconds: [
    'For how long the oldest audit entry without a link has waited; 0 when none does',
    ({ audit }) => audit.unlinkedAgeMs / 1000,
  ],
  malipo_audit_unsigned_oldest_age_seconds: [
    'Age of the oldest link of an audit log that no signature covers; 0 when there is none',
    ({ audit }) => audit.unsignedAgeMs / 1000,
  ],
};

const COUNTS: Readonly<Record<string, readonly [help: string, of: keyof Counts]>> = {
  malipo_request_log_lost_total: ['Requests of API keys that this process left out of the request log', 'requestsLost'],
  malipo_person_refusals_total: ['Requests of people in a session that this process refused them', 'refusals'],
};

function createRegistry(backlog: () => Backlog, counts: Counts): Registry {
  const registry = new Registry();
  for (const [name, [help, of]] of Object.entries(COUNTS)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(counts[of]());
      },
    });
  }
  collectDefaultMetrics({ register: registry });
  for (const [name, [help, read]] of Object.entries(GAUGES)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(backlog()));
      },
    });
  }
  addWorkGauge('malipo_workflows_stuck', 'failing', 'Work whose workflow does not start or does not progress');
  addWorkGauge(
    'malipo_workflows_quarantined',
    'quarantined',
    'Work that failed so often that it is tried once an hour',
  );

  function addWorkGauge(name: string, field: 'failing' | 'quarantined', help: string): void {
    new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: [registry],
      collect() {
        const { failing } = backlog();
        for (const kind of WORK_KINDS) this.set({ kind }, failing.find((work) => work.kind === kind)?.[field] ?? 0);
      },
    });
  }
  addHousekeepingGauge(
    'malipo_housekeeping_done_as_of_seconds',
    'As of when the task is done, in Unix time; 0 before it was ever done',
    ({ doneAsOf }) => doneAsOf.getTime() / 1000,
  );
  addHousekeepingGauge('malipo_housekeeping_faults', 'Faults that the last check found', ({ faults }) => faults);

  function addHousekeepingGauge(name: string, help: string, read: (done: Housekeeping) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ['task'],
      registers: [registry],
      collect() {
        const { housekeeping } = backlog();
        for (const task of HOUSEKEEPING_TASKS) {
          const done = housekeeping.find((each) => each.task === task);
          this.set({ task }, done === undefined ? 0 : read(done));
        }
      },
    });
  }
  return registry;
}

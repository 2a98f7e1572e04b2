// Prometheus metrics on a separate port, which must not be public.
import { createServer } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Backlog } from '../dispatcher/backlog-gate.ts';
import { WORK_KINDS } from '../domain/work.ts';
import type { Log } from '../log.ts';
import { listenOn } from './http-listener.ts';

export async function startMetricsListener(options: {
  readonly host: string;
  readonly port: number;
  readonly backlog: () => Backlog;
  readonly log: Log;
}): Promise<{ stop(): Promise<void> }> {
  const registry = createRegistry(options.backlog);
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await listenOn(server, options.port, options.host, (error) => {
    options.log.error({ error }, 'the metrics listener could not accept a connection');
  });
  return {
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function createRegistry(backlog: () => Backlog): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauges: Readonly<Record<string, readonly [help: string, read: (measured: Backlog) => number]>> = {
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
  };
  for (const [name, [help, read]] of Object.entries(gauges)) {
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
  return registry;
}

// Prometheus metrics on a separate port, which must not be public.
import { createServer } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Backlog } from '../db/work.ts';
import type { Log } from '../log.ts';
import { listenOn } from './http-listener.ts';

export async function startMetricsListener(options: {
  readonly host: string;
  readonly port: number;
  readonly backlog: () => Backlog;
  readonly log: Log;
}): Promise<{ stop(): Promise<void> }> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'malipo_collections_not_started',
    help: 'Accepted collections that wait for a workflow',
    registers: [registry],
    collect() {
      this.set(options.backlog().count);
    },
  });
  new Gauge({
    name: 'malipo_collections_not_started_oldest_age_seconds',
    help: 'Age of the oldest of them',
    registers: [registry],
    collect() {
      this.set(options.backlog().oldestAgeMs / 1000);
    },
  });
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

// Serves the metrics of a server process and whether it is up, on a separate port, which must not be public.
import type { RequestListener } from 'node:http';
import { createHttpServer } from '../api/http-server.ts';
import { securityHeaders } from '../api/security-headers.ts';
import type { Config } from '../settings/config.ts';
import type { BacklogLimits } from '../domain/backlog.ts';
import type { Log } from '../log.ts';
import { readServiceFigures } from '../operations/read-service-figures.ts';
import { HTTP_LIMITS, listenOn } from './http-listener.ts';
import { createFiguresReader } from './metrics/figures-reader.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import type { Parts, Stoppable } from './server-parts.ts';

/** Work that has waited for this share of the prompt deadline is late: later work might miss the deadline. */
const TIMELY_SHARE = 0.8;

/** The size and age from which the backlog is too large. */
export function backlogLimitsOf({ settings, clocks }: Config): BacklogLimits {
  return {
    maxCount: settings.MALIPO_BACKLOG_MAX_COUNT,
    maxPerMerchant: settings.MALIPO_BACKLOG_MAX_PER_MERCHANT,
    maxAgeMs: Math.min(settings.MALIPO_BACKLOG_MAX_AGE_MS, clocks.promptDeadlineMs * TIMELY_SHARE),
  };
}

type Shown = Pick<Parts, 'config' | 'log' | 'db' | 'queues' | 'schema' | 'temporal' | 'metrics'>;

export async function startMetrics({ config, log, db, queues, schema, temporal, metrics }: Shown): Promise<Stoppable> {
  const { settings } = config;
  const limits = backlogLimitsOf(config);
  metrics.watch({
    roles: () => (schema.fault() === null ? settings.MALIPO_ROLES : []),
    pools: { main: db.pool, queues: queues.pool },
    isTemporalConnected: () => temporal.isConnected(),
    figures: createFiguresReader({ read: () => readServiceFigures(db, limits), log }),
  });
  const headers = securityHeaders(settings.MALIPO_PUBLIC_URL);
  const server = createHttpServer({ limits: HTTP_LIMITS, handle: handlerOf(metrics, headers, log), headers, log });
  const { MALIPO_METRICS_HOST: host, MALIPO_METRICS_PORT: port } = settings;
  await listenOn(server, { host, port, setting: 'MALIPO_METRICS_PORT' }, (error) => {
    log.error({ error }, 'the metrics listener could not accept a connection');
  });
  return {
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function handlerOf(
  metrics: Pick<ServerMetrics, 'scrape'>,
  headers: Readonly<Record<string, string>>,
  log: Log,
): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.method === 'GET' && request.url === '/healthz') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status: 'up' }));
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.scrape().then(
      ({ text, contentType }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      (error: unknown) => {
        log.error({ error }, 'the metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  };
}

// Prometheus metrics, and whether the process is up, on a separate port, which must not be public.
import type { RequestListener } from 'node:http';
import { createHttpServer } from '../api/http-server.ts';
import type { Log } from '../log.ts';
import { HTTP_LIMITS, listenOn } from './http-listener.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';

type MetricsListenerOptions = {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<ServerMetrics, 'scrape'>;
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Log;
};

export async function startMetricsListener({
  host,
  port,
  metrics,
  headers,
  log,
}: MetricsListenerOptions): Promise<{ stop(): Promise<void> }> {
  const handle: RequestListener = (request, response) => {
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

// A collector of OpenTelemetry that takes spans as OTLP in JSON, and keeps them.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { spanIdOf, traceIdOf } from '../../src/domain/trace.ts';
import type { createOtlpTraces } from '../../src/server/telemetry/otlp-traces.ts';

const attribute = z.object({
  key: z.string(),
  value: z.object({
    stringValue: z.string().optional(),
    intValue: z.number().optional(),
    boolValue: z.boolean().optional(),
  }),
});
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(attribute),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).optional(),
  status: z.object({ code: z.number().optional() }).optional(),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

export type ReceivedSpan = Omit<z.infer<typeof spanSchema>, 'attributes'> & {
  readonly attributes: Readonly<Record<string, unknown>>;
};

export type Collector = {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that it was sent, as it came. */
  readonly bodies: readonly string[];
  readonly resource: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
};

/** With `isMute` it takes connections and requests, and never answers. */
export async function startCollector({ isMute = false } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const resource: Record<string, unknown> = {};
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      bodies.push(body);
      if (isMute) return;
      if (request.url !== '/v1/traces') {
        response.writeHead(404).end();
        return;
      }
      for (const { resource: from, scopeSpans } of exportSchema.parse(JSON.parse(body)).resourceSpans) {
        Object.assign(resource, valuesOf(from.attributes));
        for (const { attributes, ...span } of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({ ...span, attributes: valuesOf(attributes) });
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    resource,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function valuesOf(attributes: readonly z.infer<typeof attribute>[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** What spans have beside their names and ids. */
export const SPAN = { kind: 'internal', startedAtMs: 0, endedAtMs: 1, attributes: {}, isFailed: false } as const;

/** Records one span in the trace of each of these payments. */
export function recordSpans(traces: ReturnType<typeof createOtlpTraces>, ids: readonly string[]): void {
  for (const id of ids) {
    traces.record({ ...SPAN, name: 'any', traceId: traceIdOf(id), spanId: spanIdOf(id), parentSpanId: null });
  }
}

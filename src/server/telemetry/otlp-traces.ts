// Sends spans to a collector by OTLP over HTTP: in batches, after the fact, and never so that a payment waits for it.
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../../log.ts';
import type { TraceExport } from '../../settings/traces.ts';
import type { Span, Traces } from './traces.ts';

/** Further spans are left out. */
const MOST_WAITING = 4096;
const BATCH_SIZE = 512;
/** One at a time, but at the end of the process: then all that waits goes at once, beside what is on its way. */
const MOST_EXPORTS = Math.ceil(MOST_WAITING / BATCH_SIZE) + 1;
/** What is not sent by then, at the end of the process, is lost. */
const CLOSE_LIMIT_MS = 2000;
const COMPLAIN_EVERY_MS = 60_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Spans go to the collector of the settings. Call it once per process: what the SDK complains of goes to the log. */
export function createOtlpTraces(settings: TraceExport, environment: string, log: Log): Traces {
  complainTo(log);
  const { url, headers, timeoutMs, delayMs, serviceName } = settings;
  const exporter = new OTLPTraceExporter({
    url,
    headers: { ...headers },
    timeoutMillis: timeoutMs,
    concurrencyLimit: MOST_EXPORTS,
  });
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: MOST_WAITING,
    maxExportBatchSize: BATCH_SIZE,
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: timeoutMs,
  });
  const ids = new GivenIds();
  const provider = new TracerProvider({
    // By the trace alone, whatever a parent says: each payment is traced whole or not at all, in every process alike.
    sampler: new TraceIdRatioBasedSampler(settings.sampledPart),
    resource: detectResources({ detectors: [envDetector] }).merge(
      resourceFromAttributes({ 'service.name': serviceName, 'deployment.environment.name': environment }),
    ),
    idGenerator: ids,
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('malipo');
  return {
    record(span) {
      ids.next = span;
      const { traceId, parentSpanId, link } = span;
      const flags = { traceFlags: TraceFlags.SAMPLED, isRemote: true };
      const parent = parentSpanId === null ? null : { traceId, spanId: parentSpanId, ...flags };
      const started = tracer.startSpan(
        span.name,
        {
          kind: KINDS[span.kind],
          startTime: span.startedAtMs,
          attributes: present(span.attributes),
          ...(link && { links: [{ context: { ...link, ...flags } }] }),
        },
        parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
      );
      if (span.isFailed) started.setStatus({ code: SpanStatusCode.ERROR });
      started.end(Math.max(span.startedAtMs, span.endedAtMs));
    },
    async close() {
      const ended = provider.shutdown().catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, CLOSE_LIMIT_MS).unref())]);
    },
  };
}

/** The SDK asks for the ids of a span while it starts it, so those of the span that is being recorded are the ones. */
class GivenIds implements IdGenerator {
  next: Pick<Span, 'traceId' | 'spanId'> = { traceId: '', spanId: '' };
  generateTraceId(): string {
    return this.next.traceId;
  }
  generateSpanId(): string {
    return this.next.spanId;
  }
}

function present(attributes: Span['attributes']): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      (entry): entry is [string, string | number | boolean] => (entry[1] ?? null) !== null,
    ),
  );
}

// A collector that is away is no fault of a payment: a line a minute is enough, and what it did not take is gone.
function complainTo(log: Log): void {
  let quietUntilMs = 0;
  const complain = (error: unknown): void => {
    if (Date.now() < quietUntilMs) return;
    quietUntilMs = Date.now() + COMPLAIN_EVERY_MS;
    log.warn({ error }, 'spans could not be sent to the collector, and are lost');
  };
  setGlobalErrorHandler(complain);
  const ignore = () => undefined;
  const warn = (message: string) => {
    complain(new Error(message));
  };
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

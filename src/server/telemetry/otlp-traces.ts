// Sends spans to a collector by OTLP over HTTP, in batches and afterwards, so that no payment waits for it.
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

/** The most waiting spans; further spans are left out. */
const MOST_WAITING = 4096;
const BATCH_SIZE = 512;
/** One at a time. At the end of the process all waiting batches are sent at once, beside the current one. */
const MOST_EXPORTS = Math.ceil(MOST_WAITING / BATCH_SIZE) + 1;
/** At the end of the process, spans that are not sent in this time are lost. */
const CLOSE_LIMIT_MS = 2000;
const COMPLAIN_EVERY_MS = 60_000;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Spans go to the collector of the settings. Call it once per process: warnings of the SDK go to the log. */
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
    // By the trace alone, whatever a parent says: every process traces a payment whole or not at all.
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

/** The SDK asks for ids while it starts a span, so they belong to the span being recorded. */
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

// An unavailable collector is no fault of a payment: one line a minute is enough, and unaccepted spans are lost.
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

// The settings of traces, by OpenTelemetry's own names. Without an endpoint there are no traces.
import { z } from 'zod';
import { secret, webAddress } from './values.ts';

const milliseconds = z.coerce.number().int().min(1).max(600_000);

/** OpenTelemetry reads the same names, so that a collector's manual applies. */
export const traceSettings = {
  // The collector; spans go to `/v1/traces` below it.
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress.optional(),
  // The same as the whole address.
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webAddress.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/json']).default('http/json'),
  // name=value, comma-separated.
  OTEL_EXPORTER_OTLP_HEADERS: secret.optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds.default(10_000),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds.default(5000),
  OTEL_SERVICE_NAME: z.string().min(1).max(200).default('malipo'),
  OTEL_TRACES_SAMPLER: z.enum(['always_on', 'traceidratio']).default('always_on'),
  // The traced share of payments, each of them whole.
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false'),
};

type TraceSettings = Readonly<z.infer<z.ZodObject<typeof traceSettings>>>;

export type TraceExport = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** How long spans wait for others of their batch. */
  readonly delayMs: number;
  readonly serviceName: string;
  /** From 0 to 1. */
  readonly sampledPart: number;
};

/** Where and how spans are sent; null: nowhere. */
export function traceExportOf(settings: TraceSettings): TraceExport | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = settings;
  const url = whole ?? (base && `${base.replace(/\/$/, '')}/v1/traces`);
  if (url === undefined || settings.OTEL_SDK_DISABLED === 'true') return null;
  return {
    url,
    headers: headersIn(settings.OTEL_EXPORTER_OTLP_HEADERS?.reveal() ?? ''),
    timeoutMs: settings.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: settings.OTEL_BSP_SCHEDULE_DELAY,
    serviceName: settings.OTEL_SERVICE_NAME,
    sampledPart: settings.OTEL_TRACES_SAMPLER === 'traceidratio' ? settings.OTEL_TRACES_SAMPLER_ARG : 1,
  };
}

function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(
    pairs.flatMap(([name = '', ...value]) =>
      name.trim() === '' ? [] : [[name.trim(), decoded(value.join('=').trim())]],
    ),
  );
}

// A percent sign that begins no escape stands for itself.
function decoded(text: string): string {
  return /%(?![0-9a-fA-F]{2})/.test(text) ? text : decodeURIComponent(text);
}

// Opens the way to the collector, if the settings name one. What sends spans is loaded by whoever wants them, and by nobody else.
import type { Config } from '../../settings/config.ts';
import type { Log } from '../../log.ts';
import type { Traces } from './traces.ts';

/** Null: nobody looks at traces. */
export async function openTraces({ traceExport, settings }: Config, log: Log): Promise<Traces | null> {
  if (traceExport === null) return null;
  const { createOtlpTraces } = await import('./otlp-traces.ts');
  return createOtlpTraces(traceExport, settings.MALIPO_ENVIRONMENT, log);
}

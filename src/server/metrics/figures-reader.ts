// Reads the service's figures for a scrape: one read at a time, cached for seconds, given up if it takes too long.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import type { ServiceFigures } from '../../operations/read-service-figures.ts';

export type FiguresReader = {
  /** Null if they cannot be read now. Never rejects. */
  read(): Promise<ServiceFigures | null>;
};

type FiguresReaderOptions = {
  readonly read: () => Promise<ServiceFigures>;
  readonly log: Log;
  readonly keptForMs?: number;
  readonly patienceMs?: number;
};

/** The interval of reads, however many scrapers there are. */
const KEPT_FOR_MS = 3000;
/** Half of Prometheus's scrape timeout: the metrics of the process itself must still arrive. */
const PATIENCE_MS = 5000;

export function createFiguresReader({
  read,
  log,
  keptForMs = KEPT_FOR_MS,
  patienceMs = PATIENCE_MS,
}: FiguresReaderOptions): FiguresReader {
  let kept: ServiceFigures | null = null;
  let readAtMs = -Infinity;
  let reading: Promise<ServiceFigures | null> | null = null;

  async function readOnce(): Promise<ServiceFigures | null> {
    try {
      kept = await read();
      readAtMs = performance.now();
      return kept;
    } catch (error) {
      log.debug({ error }, 'the figures of the service could not be read');
      return null;
    } finally {
      reading = null;
    }
  }

  return {
    async read() {
      if (performance.now() - readAtMs < keptForMs) return kept;
      reading ??= readOnce();
      const waited = new AbortController();
      try {
        return await Promise.race([reading, sleep(patienceMs, null, { signal: waited.signal })]);
      } finally {
        waited.abort();
      }
    },
  };
}

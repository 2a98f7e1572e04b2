// The backlog gate: no new work is accepted while too much accepted work is unstarted.
import type { Database } from '../db/database.ts';
import type { Log } from '../log.ts';
import { measureBacklog, type Backlog } from '../db/work.ts';

export type BacklogGate = {
  isOpen(): boolean;
  /** As last measured. */
  backlog(): Backlog;
  close(): void;
};

const MEASURE_EVERY_MS = 1000;

/** Measures once a second and not per request: the limit is for safety, and need not be exact. */
export function createBacklogGate(options: {
  readonly db: Database;
  readonly maxCount: number;
  readonly maxAgeMs: number;
  readonly log: Log;
}): BacklogGate {
  const { db, maxCount, maxAgeMs, log } = options;
  let backlog: Backlog = { count: 0, oldestAgeMs: 0 };
  let isMeasuring = false;

  async function measure(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    try {
      backlog = await measureBacklog(db, maxCount);
    } catch (error) {
      // Without the database nothing can be accepted anyway, and each request fails by itself.
      log.debug({ error }, 'the backlog could not be measured');
    } finally {
      isMeasuring = false;
    }
  }

  void measure();
  const timer = setInterval(() => void measure(), MEASURE_EVERY_MS);
  return {
    isOpen: () => backlog.count < maxCount && backlog.oldestAgeMs < maxAgeMs,
    backlog: () => backlog,
    close() {
      clearInterval(timer);
    },
  };
}

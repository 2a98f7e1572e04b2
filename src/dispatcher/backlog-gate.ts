// The backlog gate: refuses new work while too much accepted work waits, in all or of one merchant.
import { measureBacklog } from '../db/work/backlog.ts';
import type { Database } from '../db/platform/database.ts';
import { backlogOf, EMPTY_BACKLOG, type BacklogLimits } from '../domain/backlog.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';

export type BacklogGate = {
  /** Whether new work of any merchant is accepted. */
  isOpen(): boolean;
  /** Whether new work of this merchant is accepted. */
  isOpenFor(merchantId: MerchantId): boolean;
  close(): void;
};

const MEASURE_EVERY_MS = 1000;
/** A few late payments may have their own problems. From this number on, the service itself is late. */
const MAX_LATE_COUNT = 10;

/** Measures once a second and not per request: the limit is for safety, and need not be exact. */
export function createBacklogGate({
  db,
  limits,
  log,
}: {
  readonly db: Database;
  readonly limits: BacklogLimits;
  readonly log: Log;
}): BacklogGate {
  let backlog = EMPTY_BACKLOG;
  let isMeasuring = false;

  async function measure(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    try {
      backlog = backlogOf(await measureBacklog(db, { limit: limits.maxCount, lateAfterMs: limits.maxAgeMs }), limits);
    } catch (error) {
      // Without the database nothing can be accepted anyway, and each request fails by itself.
      log.debug({ error }, 'the backlog could not be measured');
    } finally {
      isMeasuring = false;
    }
  }

  void measure();
  const timer = setInterval(() => void measure(), MEASURE_EVERY_MS);
  const isOpen = (): boolean => backlog.count < limits.maxCount && backlog.lateCount < MAX_LATE_COUNT;
  return {
    isOpen,
    isOpenFor: (merchantId) => isOpen() && !backlog.fullMerchants.has(merchantId),
    close() {
      clearInterval(timer);
    },
  };
}

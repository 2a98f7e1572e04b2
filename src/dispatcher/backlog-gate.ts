// The backlog gate: no new work is accepted while too much accepted work waits for us, in all or of one merchant.
import {
  countFailingWork,
  countReplacedRuns,
  measureAuditLag,
  measureBacklog,
  type AuditLag,
  type FailingWork,
  type MerchantBacklog,
} from '../db/backlog.ts';
import type { Database } from '../db/database.ts';
import { listHousekeeping } from '../db/housekeeping.ts';
import type { Housekeeping } from '../domain/housekeeping.ts';
import type { MerchantId } from '../domain/ids.ts';
import type { Log } from '../log.ts';

export type Backlog = {
  readonly count: number;
  readonly lateCount: number;
  readonly oldestAgeMs: number;
  /** How many merchants are refused because of their own share. */
  readonly fullMerchants: number;
  /** Kinds with failing work. */
  readonly failing: readonly FailingWork[];
  /** How many runs were ever replaced. */
  readonly replacedRuns: number;
  /** As of when the service's other tasks are done. */
  readonly housekeeping: readonly Housekeeping[];
  /** How far the links and signatures of audit logs are behind. */
  readonly audit: AuditLag;
};

export type BacklogGate = {
  /** Whether new work is accepted of any merchant. */
  isOpen(): boolean;
  /** Whether it is accepted of this merchant. */
  isOpenFor(merchantId: MerchantId): boolean;
  /** As last measured. */
  backlog(): Backlog;
  close(): void;
};

const MEASURE_EVERY_MS = 1000;
/** A few late payments have troubles of their own; from so many on it is the service that is behind. */
const MAX_LATE_COUNT = 10;
const EMPTY: Backlog = {
  count: 0,
  lateCount: 0,
  oldestAgeMs: 0,
  fullMerchants: 0,
  failing: [],
  replacedRuns: 0,
  housekeeping: [],
  audit: { unlinkedAgeMs: 0, unsignedAgeMs: 0 },
};

/** Measures once a second and not per request: the limit is for safety, and need not be exact. */
export function createBacklogGate(options: {
  readonly db: Database;
  readonly maxCount: number;
  readonly maxPerMerchant: number;
  /** Work that has waited longer is late. */
  readonly maxAgeMs: number;
  readonly log: Log;
}): BacklogGate {
  const { db, maxCount, maxPerMerchant, maxAgeMs, log } = options;
  let backlog = EMPTY;
  let full: ReadonlySet<MerchantId> = new Set();
  let isMeasuring = false;

  async function measure(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    try {
      const parts = await measureBacklog(db, { limit: maxCount, lateAfterMs: maxAgeMs });
      const failing = await countFailingWork(db);
      const replacedRuns = await countReplacedRuns(db);
      full = new Set(parts.filter(({ count }) => count >= maxPerMerchant).map(({ merchantId }) => merchantId));
      const housekeeping = await listHousekeeping(db);
      const audit = await measureAuditLag(db);
      backlog = { ...sumOf(parts), fullMerchants: full.size, failing, replacedRuns, housekeeping, audit };
    } catch (error) {
      // Without the database nothing can be accepted anyway, and each request fails by itself.
      log.debug({ error }, 'the backlog could not be measured');
    } finally {
      isMeasuring = false;
    }
  }

  void measure();
  const timer = setInterval(() => void measure(), MEASURE_EVERY_MS);
  const isOpen = (): boolean => backlog.count < maxCount && backlog.lateCount < MAX_LATE_COUNT;
  return {
    isOpen,
    isOpenFor: (merchantId) => isOpen() && !full.has(merchantId),
    backlog: () => backlog,
    close() {
      clearInterval(timer);
    },
  };
}

function sumOf(parts: readonly MerchantBacklog[]): Backlog {
  return parts.reduce(
    (sum, part) => ({
      ...sum,
      count: sum.count + part.count,
      lateCount: sum.lateCount + part.lateCount,
      oldestAgeMs: Math.max(sum.oldestAgeMs, part.oldestAgeMs),
    }),
    EMPTY,
  );
}

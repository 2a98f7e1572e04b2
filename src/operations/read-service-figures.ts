// Reads the figures of the whole service, for its metrics.
import { countFailingWork, countReplacedRuns, measureAuditLag, measureBacklog } from '../db/work/backlog.ts';
import type { Queryable } from '../db/platform/database.ts';
import { measureFence } from '../db/platform/fence.ts';
import { listHousekeeping } from '../db/platform/housekeeping.ts';
import {
  countUnmatchedCallbacks,
  findDeliveryFigures,
  listDisabledEndpoints,
  listDurationFigures,
  listOldestPayments,
  listOpenDiscrepancies,
  listPaymentFigures,
  listUnstartedWork,
} from '../db/service-figures.ts';
import { listOpenBreakers } from '../db/work/breakers.ts';
import { measureOverdueQueries } from '../db/work/status-queries.ts';
import { backlogOf, type BacklogLimits } from '../domain/backlog.ts';
import { OPERATOR_IDS } from '../domain/payments/operator-catalogue.ts';
import { COUNTED_UP_TO } from '../domain/service-figures.ts';

export type ServiceFigures = Readonly<Awaited<ReturnType<typeof readServiceFigures>>>;

/** Shorter waits are those of a queue that keeps up. */
const OVERDUE_AFTER_MS = 5000;

/** One statement after another, so that it takes one connection. What is counted row by row is counted up to a limit. */
export async function readServiceFigures(db: Queryable, limits: BacklogLimits) {
  const waiting = await measureBacklog(db, { limit: limits.maxCount, lateAfterMs: limits.maxAgeMs });
  return {
    backlog: backlogOf(waiting, limits),
    /** Kinds with failing work. */
    failing: await countFailingWork(db),
    /** Of each operator. */
    overdueQueries: await measureOverdueQueries(db, OPERATOR_IDS, OVERDUE_AFTER_MS),
    /** Those that are not closed. */
    breakers: await listOpenBreakers(db),
    /** How many runs were ever replaced. */
    replacedRuns: await countReplacedRuns(db),
    /** As of when the service's other tasks are done. */
    housekeeping: await listHousekeeping(db),
    /** How far the links and signatures of audit logs are behind. */
    audit: await measureAuditLag(db),
    payments: await listPaymentFigures(db),
    durations: await listDurationFigures(db),
    oldest: await listOldestPayments(db),
    unstarted: await listUnstartedWork(db, COUNTED_UP_TO),
    deliveries: await findDeliveryFigures(db, COUNTED_UP_TO),
    disabledEndpoints: await listDisabledEndpoints(db, COUNTED_UP_TO),
    discrepancies: await listOpenDiscrepancies(db, COUNTED_UP_TO),
    fence: await measureFence(db),
    unmatchedCallbacks: await countUnmatchedCallbacks(db, COUNTED_UP_TO),
  };
}

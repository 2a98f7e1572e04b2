// Reads the figures of the whole service, for its metrics.
import {
  countFailingWork,
  countReplacedRuns,
  measureAuditLag,
  measureBacklog,
  type AuditLag,
  type FailingWork,
} from '../db/work/backlog.ts';
import type { Queryable } from '../db/platform/database.ts';
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
  type DeliveryFigures,
  type DisabledEndpoints,
  type DurationFigure,
  type OldestPayment,
  type OpenDiscrepancies,
  type PaymentFigure,
  type UnstartedWork,
} from '../db/service-figures.ts';
import { measureOverdueQueries, type OverdueQueries } from '../db/work/status-queries.ts';
import { backlogOf, type Backlog, type BacklogLimits } from '../domain/backlog.ts';
import type { Housekeeping } from '../domain/housekeeping.ts';
import { OPERATOR_IDS } from '../domain/payments/operator-catalogue.ts';
import { COUNTED_UP_TO } from '../domain/service-figures.ts';

export type ServiceFigures = {
  readonly backlog: Backlog;
  /** Kinds with failing work. */
  readonly failing: readonly FailingWork[];
  /** Of each operator. */
  readonly overdueQueries: readonly OverdueQueries[];
  /** How many runs were ever replaced. */
  readonly replacedRuns: number;
  /** As of when the service's other tasks are done. */
  readonly housekeeping: readonly Housekeeping[];
  /** How far the links and signatures of audit logs are behind. */
  readonly audit: AuditLag;
  readonly payments: readonly PaymentFigure[];
  readonly durations: readonly DurationFigure[];
  readonly oldest: readonly OldestPayment[];
  readonly unstarted: readonly UnstartedWork[];
  readonly deliveries: DeliveryFigures;
  readonly disabledEndpoints: readonly DisabledEndpoints[];
  readonly discrepancies: readonly OpenDiscrepancies[];
  /** Callbacks about payments that are not on record. */
  readonly unmatchedCallbacks: number;
};

/** Shorter waits are those of a queue that keeps up. */
const OVERDUE_AFTER_MS = 5000;

/** One statement after another, so that it takes one connection. What is counted row by row is counted up to a limit. */
export async function readServiceFigures(db: Queryable, limits: BacklogLimits): Promise<ServiceFigures> {
  const waiting = await measureBacklog(db, { limit: limits.maxCount, lateAfterMs: limits.maxAgeMs });
  return {
    backlog: backlogOf(waiting, limits),
    failing: await countFailingWork(db),
    overdueQueries: await measureOverdueQueries(db, OPERATOR_IDS, OVERDUE_AFTER_MS),
    replacedRuns: await countReplacedRuns(db),
    housekeeping: await listHousekeeping(db),
    audit: await measureAuditLag(db),
    payments: await listPaymentFigures(db),
    durations: await listDurationFigures(db),
    oldest: await listOldestPayments(db),
    unstarted: await listUnstartedWork(db, COUNTED_UP_TO),
    deliveries: await findDeliveryFigures(db, COUNTED_UP_TO),
    disabledEndpoints: await listDisabledEndpoints(db, COUNTED_UP_TO),
    discrepancies: await listOpenDiscrepancies(db, COUNTED_UP_TO),
    unmatchedCallbacks: await countUnmatchedCallbacks(db, COUNTED_UP_TO),
  };
}

// Records as of when the dispatcher has done all due work, and as of when all due status queries are made.
import type { Database } from '../db/platform/database.ts';
import { markDone } from '../db/platform/housekeeping.ts';
import { firstQueryDueAt } from '../db/work/status-queries.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';

export type DispatchReport = {
  /** `doneAsOf`: each of the dispatcher's loops has completed a pass that began then or later. */
  run(doneAsOf: Date): Promise<void>;
};

export type DispatchReportOptions = {
  readonly db: Database;
  readonly operators: readonly OperatorId[];
};

/** Once a minute is enough to reveal a standstill, and costs next to nothing. */
const REPORT_EVERY_MS = 60_000;

export function createDispatchReport({ db, operators }: DispatchReportOptions): DispatchReport {
  let nextAtMs = 0;
  return {
    async run(doneAsOf) {
      if (Date.now() < nextAtMs) return;
      await markDone(db, { task: 'dispatch', doneAsOf, faults: 0 });
      // Everything due before the longest waiting query is done, whichever process should make that query.
      const queriesAsOf = (await firstQueryDueAt(db, operators)) ?? new Date();
      await markDone(db, { task: 'status_queries', doneAsOf: queriesAsOf, faults: 0 });
      nextAtMs = Date.now() + REPORT_EVERY_MS;
    },
  };
}

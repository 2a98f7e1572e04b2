// Has workers recheck final payments: starts the workflow of each operator of which rechecks are due.
import type { Database } from '../db/platform/database.ts';
import { listOperatorsToRecheck } from '../db/work/rechecks.ts';
import type { Clocks } from '../domain/clocks.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { TemporalClient } from '../temporal/client.ts';

export type RecheckStartsOptions = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'startRechecks'>;
  readonly operators: readonly OperatorId[];
  readonly clocks: Pick<Clocks, 'recheckEveryMs'>;
};

export type RecheckStarts = {
  /** At most one call to Temporal for each operator within `recheckEveryMs`, and only if a recheck is due. */
  start(): Promise<void>;
};

/** The time between two runs lets rechecks gather, and so does a run that is still open. */
export function createRecheckStarts({ db, temporal, operators, clocks }: RecheckStartsOptions): RecheckStarts {
  const resumeAtMs = new Map<OperatorId, number>();
  return {
    async start() {
      if (!temporal.isConnected()) return;
      const now = Date.now();
      const asked = operators.filter((operator) => (resumeAtMs.get(operator) ?? 0) <= now);
      if (asked.length === 0) return;
      for (const operator of await listOperatorsToRecheck(db, asked)) {
        resumeAtMs.set(operator, Date.now() + clocks.recheckEveryMs);
        await temporal.startRechecks(operator);
      }
    },
  };
}

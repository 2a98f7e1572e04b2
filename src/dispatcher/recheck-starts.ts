// Has workers recheck final payments: starts the workflow of each operator of which rechecks are due.
import type { Database } from '../db/database.ts';
import { listOperatorsToRecheck } from '../db/rechecks.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { TemporalClient } from '../temporal/client.ts';

export type RecheckStartsOptions = {
  readonly db: Database;
  readonly temporal: Pick<TemporalClient, 'isConnected' | 'startRechecks'>;
  readonly operators: readonly OperatorId[];
};

export type RecheckStarts = {
  /** At most one call to Temporal for each operator, and only if a recheck is due. */
  start(): Promise<void>;
};

/** While a run is open, or Temporal does not start one, it is asked so seldom. */
const PAUSE_MS = 10_000;

export function createRecheckStarts({ db, temporal, operators }: RecheckStartsOptions): RecheckStarts {
  const resumeAtMs = new Map<OperatorId, number>();
  return {
    async start() {
      if (!temporal.isConnected()) return;
      const now = Date.now();
      const asked = operators.filter((operator) => (resumeAtMs.get(operator) ?? 0) <= now);
      for (const operator of await listOperatorsToRecheck(db, asked)) {
        resumeAtMs.set(operator, Date.now() + PAUSE_MS);
        if ((await temporal.startRechecks(operator)) === 'started') resumeAtMs.delete(operator);
      }
    },
  };
}

// Folds the changes of payments into the totals that the console shows.
import type { Database } from '../db/database.ts';
import { foldTotals } from '../db/payments/totals.ts';

export type Totals = {
  /** Runs once per tick. */
  run(): Promise<void>;
};

const BATCH_SIZE = 2000;
// The rest waits for the next tick, so that stopping does not have to wait for all of it.
const MAX_BATCHES_PER_TICK = 20;

/** Any number may fold at once. What is not folded yet is added by whoever reads. */
export function createTotals(db: Database): Totals {
  return {
    async run() {
      for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
        if ((await foldTotals(db, BATCH_SIZE)) < BATCH_SIZE) break;
      }
    },
  };
}

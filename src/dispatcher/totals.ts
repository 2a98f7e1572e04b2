// Folds state changes into the totals that the console shows, and into the figures of the metrics.
import type { Database } from '../db/platform/database.ts';
import { foldStateChanges, renumberRestoredChanges } from '../db/state-changes.ts';

export type Totals = {
  /** Runs once per tick. */
  run(): Promise<void>;
};

const BATCH_SIZE = 2000;
// The rest waits for the next tick, so that stopping does not have to wait for all of it.
const MAX_BATCHES_PER_TICK = 20;

/** What is not folded yet is added by whoever reads totals, and the figures have it a second later. */
export function createTotals(db: Database): Totals {
  return {
    async run() {
      for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
        if ((await foldStateChanges(db, BATCH_SIZE)) < BATCH_SIZE) break;
      }
      await renumberRestoredChanges(db, BATCH_SIZE);
    },
  };
}

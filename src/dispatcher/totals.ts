// Folds the changes of payments into the totals that the console shows, and into the figures of the metrics.
import type { Database } from '../db/platform/database.ts';
import { foldTotals } from '../db/payments/totals.ts';
import { foldMoves } from '../db/service-figures.ts';

export type Totals = {
  /** Runs once per tick. */
  run(): Promise<void>;
};

const BATCH_SIZE = 2000;
// The rest waits for the next tick, so that stopping does not have to wait for all of it.
const MAX_BATCHES_PER_TICK = 20;

/** Any number may fold at once. What is not folded yet is added by whoever reads totals, and the figures have it a second later. */
export function createTotals(db: Database): Totals {
  return {
    async run() {
      await foldAll((limit) => foldTotals(db, limit));
      await foldAll((limit) => foldMoves(db, limit));
    },
  };
}

async function foldAll(fold: (limit: number) => Promise<number>): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES_PER_TICK; batch++) {
    if ((await fold(BATCH_SIZE)) < BATCH_SIZE) break;
  }
}

// Folds state changes into the totals of the console, and into the figures of the metrics.
import type { Database } from '../db/platform/database.ts';
import { foldStateChanges, renumberRestoredChanges } from '../db/state-changes.ts';
import type { Pass } from './dispatcher.ts';

const BATCH_SIZE = 2000;
// The rest waits for the next tick, so that a stop need not wait for all of it.
const MAX_BATCHES_PER_TICK = 20;

/** Readers of totals add unfolded changes themselves; the figures have them a second later. */
export function createTotals(db: Database): Pass {
  return {
    async run() {
      let folded = await foldStateChanges(db, BATCH_SIZE);
      // A position of another server has no changes to fold after it.
      if (folded === 0) await renumberRestoredChanges(db, BATCH_SIZE);
      for (let batch = 1; folded >= BATCH_SIZE && batch < MAX_BATCHES_PER_TICK; batch++) {
        folded = await foldStateChanges(db, BATCH_SIZE);
      }
    },
  };
}

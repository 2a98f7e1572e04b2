// Continues a bulk replay by one batch.
import type { Database } from '../../db/platform/database.ts';
import {
  isAnyReplayRunning,
  lockRunningReplay,
  recordReplayProgress,
  resetBatchForReplay,
} from '../../db/webhooks/replay.ts';

/**
 * Returns how many deliveries it reset to pending; null when no replay is running or others are continuing those that are.
 * The deliveries and the replay's progress change in one transaction, so a crash neither repeats nor skips a delivery.
 */
export async function continueReplay(db: Database, limit: number, at: Date): Promise<number | null> {
  // Most often there is none, and one statement says so.
  if (!(await isAnyReplayRunning(db))) return null;
  return db.withTransaction(async (tx) => {
    const replay = await lockRunningReplay(tx);
    if (replay === null) return null;
    const batch = await resetBatchForReplay(tx, replay, limit, at);
    await recordReplayProgress(tx, replay.id, { ...batch, isLast: batch.read < limit, at });
    return batch.replayed;
  });
}

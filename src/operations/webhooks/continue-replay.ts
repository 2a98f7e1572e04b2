// Brings a replay of many forward by one stretch.
import type { Database } from '../../db/database.ts';
import { noteReplayProgress, rearmBatch, takeRunningReplay } from '../../db/webhooks/replay.ts';

/**
 * How many deliveries are pending again by it; null when no replay is running, or others continue those that are. What is
 * replayed and how far the replay came are one transaction: a death in between replays nothing twice and leaves nothing out.
 */
export async function continueReplay(db: Database, limit: number, at: Date): Promise<number | null> {
  return db.withTransaction(async (tx) => {
    const replay = await takeRunningReplay(tx);
    if (replay === null) return null;
    const batch = await rearmBatch(tx, replay, limit, at);
    await noteReplayProgress(tx, replay.id, { ...batch, isLast: batch.read < limit, at });
    return batch.replayed;
  });
}

// Replays deliveries: the same events and bytes, the endpoint's current secret, and the schedule from its beginning.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { endpointExists, lockMerchant } from '../../db/webhooks/endpoint.ts';
import {
  lockDelivery,
  resetForReplay,
  countMatching,
  countRunningReplays,
  insertReplay,
  isAnyReplayRunning,
  lockRunningReplay,
  recordReplayProgress,
  resetBatchForReplay,
} from '../../db/webhooks/replay.ts';
import type { ByPerson } from '../../domain/accounts/member.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import { isId, newId } from '../../domain/ids.ts';
import { MAX_REPLAY_TOTAL, MAX_RUNNING_REPLAYS, type Replay, type ReplayFilter } from '../../domain/webhooks/replay.ts';

/**
 * A delivery that waits for its first attempt stays unchanged; one that waits for a later attempt is sent now. Throws
 * `delivery_not_found`, and `state_conflict` if its endpoint is disabled or deleted.
 */
export async function replayDelivery(db: Database, { id, by, at }: ByPerson & { readonly id: string }): Promise<void> {
  const { merchantId } = by.person;
  await db.withTransaction(async (tx) => {
    const delivery = isId('dlv', id) ? await lockDelivery(tx, merchantId, id) : null;
    if (!delivery || !isId('dlv', id)) throw notFound('delivery');
    if (!delivery.isEndpointEnabled) {
      throw stateConflict('The endpoint of this delivery is disabled or deleted. Enable it first.');
    }
    if (delivery.isPending) return;
    await resetForReplay(tx, id, at);
    await recordAct(tx, by, { action: 'delivery.replayed', subjectId: id, at });
  });
}

export type CreateReplay = ByPerson & { readonly filter: ReplayFilter };

/**
 * Returns the new replay with the number of matching deliveries, counted up to `MAX_REPLAY_TOTAL`. Not idempotent: each call
 * begins another replay. Throws `endpoint_not_found`, and `state_conflict` while the merchant has too many running.
 */
export async function createReplay(db: Database, { filter, by, at }: CreateReplay): Promise<Replay> {
  const { merchantId, userId } = by.person;
  return db.withTransaction(async (tx) => {
    await lockMerchant(tx, merchantId);
    if (filter.endpointId !== null && !(await endpointExists(tx, merchantId, filter.endpointId)))
      throw notFound('endpoint');
    if ((await countRunningReplays(tx, merchantId)) >= MAX_RUNNING_REPLAYS) {
      throw stateConflict(`${MAX_RUNNING_REPLAYS} replays are running. Wait for one of them to end.`);
    }
    const replay: Replay = {
      ...filter,
      id: newId('rpl', at.getTime()),
      merchantId,
      state: 'running',
      total: await countMatching(tx, merchantId, filter, MAX_REPLAY_TOTAL),
      replayed: 0,
      skipped: 0,
      requestedBy: userId,
      createdAt: at,
      completedAt: null,
    };
    await insertReplay(tx, replay);
    const after = { endpoint_id: filter.endpointId, states: filter.states, total: replay.total };
    await recordAct(tx, by, { action: 'deliveries.replayed', subjectId: replay.id, after, at });
    return replay;
  });
}

/**
 * Returns how many deliveries it reset to pending; null if no replay runs or other processes continue all of them.
 * The deliveries and the progress change in one transaction, so a crash neither repeats nor skips a delivery.
 */
export async function continueReplay(db: Database, limit: number, at: Date): Promise<number | null> {
  // Usually there is no replay, and one statement finds that out.
  if (!(await isAnyReplayRunning(db))) return null;
  return db.withTransaction(async (tx) => {
    const replay = await lockRunningReplay(tx);
    if (replay === null) return null;
    const batch = await resetBatchForReplay(tx, replay, limit, at);
    await recordReplayProgress(tx, replay.id, { ...batch, isLast: batch.read < limit, at });
    return batch.replayed;
  });
}

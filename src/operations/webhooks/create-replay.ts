// Begins a bulk replay, which the dispatcher carries out in batches.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { endpointExists, lockMerchant } from '../../db/webhooks/endpoint.ts';
import { countMatching, countRunningReplays, insertReplay } from '../../db/webhooks/replay.ts';
import { DomainError, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { MAX_REPLAY_TOTAL, MAX_RUNNING_REPLAYS, type Replay, type ReplayFilter } from '../../domain/webhooks/replay.ts';

export type CreateReplay = {
  readonly filter: ReplayFilter;
  readonly by: ActedBy;
  readonly at: Date;
};

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
      throw new DomainError(
        'state_conflict',
        `${MAX_RUNNING_REPLAYS} replays are running. Wait for one of them to end.`,
      );
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

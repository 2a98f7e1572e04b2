// Statements on replays and on the deliveries that they reset to pending.
import { isId, lowestIdAt, type DeliveryId, type MerchantId, type ReplayId } from '../../domain/ids.ts';
import type { Replay, ReplayFilter } from '../../domain/webhooks/replay.ts';
import { notFound } from '../../domain/errors.ts';
import { DELIVERIES_OWED, findOne, readCount, statement, type Queryable, type Tx } from '../platform/database.ts';
import { insertion } from '../platform/columns.ts';
import { endDeliveryWork } from '../work/work-rows.ts';
import { newestPages } from '../platform/page.ts';

// An id begins with its creation time, which the conditions use. $1 to $5: merchant, endpoint, states, from, before.
function filterValues(merchantId: MerchantId, filter: ReplayFilter): unknown[] {
  const from = lowestIdAt('dlv', filter.madeFrom?.getTime() ?? 0);
  return [merchantId, filter.endpointId, filter.states, from, lowestIdAt('dlv', filter.madeBefore.getTime())];
}

// The index for rare states is by endpoint: counting for each endpoint avoids reading all of the merchant's deliveries.
const COUNT_MATCHING = statement('replay_count_matching')`
  SELECT count(*)::int AS count FROM (
    SELECT FROM endpoints e CROSS JOIN LATERAL (
      SELECT FROM deliveries d
      WHERE d.endpoint_id = e.id AND d.state = ANY($3) AND d.id >= $4 AND d.id < $5 LIMIT $6) AS d
    WHERE e.merchant_id = $1 AND ($2::text IS NULL OR e.id = $2) LIMIT $6) AS matching`;

// A generic plan expects every time range to be short and would read all merchants' deliveries by id.
const FORCE_CUSTOM_PLAN = statement('replay_force_custom_plan')`SET LOCAL plan_cache_mode = force_custom_plan`;

/** How many deliveries match the filter, counted up to `limit`. */
export async function countMatching(
  tx: Tx,
  merchantId: MerchantId,
  filter: ReplayFilter,
  limit: number,
): Promise<number> {
  const values = [...filterValues(merchantId, filter), limit];
  await tx.run(FORCE_CUSTOM_PLAN, []);
  return readCount(tx, COUNT_MATCHING, values);
}

const COLUMNS = `id, merchant_id, endpoint_id, states, created_from AS made_from, created_before AS made_before, state, total,
  replayed, skipped, requested_by, created_at, completed_at`;

const insert = insertion(
  'replay_insert',
  'replays',
  `id, merchant_id, endpoint_id, states, created_from, created_before, state, total, requested_by, created_at, updated_at`,
);

export async function insertReplay(tx: Tx, replay: Replay): Promise<void> {
  const { madeFrom: createdFrom, madeBefore: createdBefore, createdAt: updatedAt } = replay;
  await insert(tx, { ...replay, createdFrom, createdBefore, state: 'running', updatedAt });
}

const COUNT_RUNNING = statement('replay_count_running')`
  SELECT count(*)::int AS count FROM replays WHERE merchant_id = $1 AND state = 'running'`;

export async function countRunningReplays(tx: Tx, merchantId: MerchantId): Promise<number> {
  return readCount(tx, COUNT_RUNNING, [merchantId]);
}

const FIND = statement('replay_find')`SELECT ${COLUMNS} FROM replays WHERE id = $1 AND merchant_id = $2`;

/** Throws `replay_not_found`. */
export async function getReplay(db: Queryable, merchantId: MerchantId, id: string): Promise<Replay> {
  const replay = isId('rpl', id) ? await findOne<Replay>(db, FIND, [id, merchantId]) : null;
  if (!replay) throw notFound('replay');
  return replay;
}

const LIST = statement('replay_list')`
  SELECT ${COLUMNS} FROM replays WHERE merchant_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`;

export const listReplays = newestPages<Replay>(LIST);

/** A running replay with the last delivery that it has read; null: none yet. */
export type RunningReplay = Replay & { readonly lastDeliveryId: DeliveryId | null };

const IS_ANY_RUNNING = statement('replay_is_any_running')`
  SELECT EXISTS (SELECT FROM replays WHERE state = 'running') AS is_any`;

export async function isAnyReplayRunning(db: Queryable): Promise<boolean> {
  return (await findOne<{ isAny: boolean }>(db, IS_ANY_RUNNING, []))?.isAny === true;
}

const LOCK_RUNNING = statement('replay_lock_running')`
  SELECT ${COLUMNS}, last_delivery_id FROM replays WHERE state = 'running'
  ORDER BY updated_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** Locks the running replay that has waited longest: only this transaction continues it. Null: none is free. */
export async function lockRunningReplay(tx: Tx): Promise<RunningReplay | null> {
  return findOne<RunningReplay>(tx, LOCK_RUNNING, []);
}

// Resets a delivery to pending: attempt numbers continue, the schedule starts again.
const RESET_TO_PENDING = `state = 'pending', replay_count = d.replay_count + 1, attempts_before_replay = d.attempt_count,
  next_attempt_at = $AT, leased_until = NULL, updated_at = $AT`;

// Each batch reads the next `limit` deliveries of the merchant, however few match, so no batch reads more.
const RESET_BATCH = statement('replay_reset_batch')`
  WITH scanned AS MATERIALIZED (
    SELECT d.id FROM deliveries d
    WHERE d.merchant_id = $1 AND d.id >= $4 AND d.id < $5 AND d.id > coalesce($6::text, '') ORDER BY d.id LIMIT $7),
  batch AS (
    SELECT d.id, e.state = 'enabled' AS is_enabled
    FROM scanned JOIN deliveries d USING (id) JOIN endpoints e ON e.id = d.endpoint_id
    WHERE d.state = ANY($3) AND ($2::text IS NULL OR d.endpoint_id = $2)
    ORDER BY d.id FOR UPDATE OF d),
  reset AS (
    UPDATE deliveries d SET ${RESET_TO_PENDING.replaceAll('$AT', '$8::timestamptz')}
    WHERE d.id = ANY(ARRAY(SELECT id FROM batch WHERE is_enabled)) RETURNING d.id),
  ended_work AS (${endDeliveryWork('SELECT id FROM reset')})
  SELECT (SELECT count(*)::int FROM scanned) AS read, (SELECT count(*)::int FROM batch) AS matched,
         (SELECT count(*)::int FROM reset) AS replayed, (SELECT max(id) FROM scanned) AS last_delivery_id`;

export type ReplayedBatch = {
  /** How many deliveries the batch read; the last of them is `lastDeliveryId`. */
  readonly read: number;
  readonly matched: number;
  readonly replayed: number;
  readonly lastDeliveryId: DeliveryId | null;
};

/**
 * Reads the merchant's next `limit` deliveries and resets to pending those that match and whose endpoint is enabled.
 */
export async function resetBatchForReplay(
  tx: Tx,
  replay: RunningReplay,
  limit: number,
  at: Date,
): Promise<ReplayedBatch> {
  const values = [...filterValues(replay.merchantId, replay), replay.lastDeliveryId, limit, at];
  const [row] = await tx.run<ReplayedBatch>(RESET_BATCH, values);
  if (!row) throw new Error('a replay batch returned no row');
  if (row.replayed > 0) tx.announce(DELIVERIES_OWED);
  return row;
}

const RECORD_PROGRESS = statement('replay_record_progress')`
  UPDATE replays SET replayed = replayed + $2, skipped = skipped + $3, last_delivery_id = coalesce($4, last_delivery_id),
    state = CASE WHEN $5 THEN 'completed' ELSE state END, completed_at = CASE WHEN $5 THEN $6::timestamptz END,
    updated_at = $6
  WHERE id = $1`;

export async function recordReplayProgress(
  tx: Tx,
  id: ReplayId,
  batch: ReplayedBatch & { readonly isLast: boolean; readonly at: Date },
): Promise<void> {
  const { matched, replayed, lastDeliveryId, isLast, at } = batch;
  await tx.run(RECORD_PROGRESS, [id, replayed, matched - replayed, lastDeliveryId, isLast, at]);
}

const LOCK_ONE = statement('replay_lock_delivery')`
  SELECT d.state = 'pending' AS is_pending, e.state = 'enabled' AS is_endpoint_enabled
  FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id WHERE d.id = $1 AND d.merchant_id = $2 FOR UPDATE OF d`;

/** The delivery's current state, locked until the transaction ends; null for an unknown id and for another merchant's. */
export async function lockDelivery(
  tx: Tx,
  merchantId: MerchantId,
  id: DeliveryId,
): Promise<{ readonly isPending: boolean; readonly isEndpointEnabled: boolean } | null> {
  return findOne<{ isPending: boolean; isEndpointEnabled: boolean }>(tx, LOCK_ONE, [id, merchantId]);
}

const RESET_ONE = statement('replay_reset_one')`
  WITH reset AS (
    UPDATE deliveries d SET ${RESET_TO_PENDING.replaceAll('$AT', '$2::timestamptz')} WHERE d.id = $1 RETURNING d.id)
  ${endDeliveryWork('SELECT id FROM reset')}`;

/** Resets a locked delivery to pending, whatever its state. */
export async function resetForReplay(tx: Tx, id: DeliveryId, at: Date): Promise<void> {
  await tx.run(RESET_ONE, [id, at]);
  tx.announce(DELIVERIES_OWED);
}

// Rows of deliveries and of the attempts made for them.
import type { Attempt, NextStep } from '../../domain/webhooks/delivery.ts';
import type { DeliveryId, EndpointId, EventId, MerchantId } from '../../domain/ids.ts';
import { statement, type Queryable } from '../database.ts';

/** All that one attempt needs, read at one instant. */
export type DueDelivery = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly attemptCount: number;
  /** How often it was replayed: an attempt of before the last replay decides nothing any more. */
  readonly replayCount: number;
  /** The schedule begins anew with a replay. */
  readonly attemptsBeforeReplay: number;
  readonly nextAttemptAt: Date | null;
  /** Whether the endpoint's last attempt failed. */
  readonly isEndpointFailing: boolean;
  readonly url: string;
  /** The present one first; two while a rotation overlaps. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
};

type DueDeliveryRow = {
  id: DeliveryId;
  merchant_id: MerchantId;
  endpoint_id: EndpointId;
  event_id: EventId;
  attempt_count: number;
  replay_count: number;
  attempts_before_replay: number;
  next_attempt_at: Date | null;
  is_failing: boolean;
  url: string;
  secret_sealed: string;
  previous_secret_sealed: string | null;
  body: string;
};

const ARMED = `d.id, d.merchant_id, d.endpoint_id, d.event_id, d.attempt_count, d.replay_count, d.attempts_before_replay,
  d.next_attempt_at`;
const DUE_COLUMNS = `${ARMED}, e.failing_since IS NOT NULL AS is_failing, e.url, e.secret_sealed,
  CASE WHEN e.previous_secret_until > now() THEN e.previous_secret_sealed END AS previous_secret_sealed, v.body`;

const IS_FREE = `d.state = 'pending' AND (d.leased_until IS NULL OR d.leased_until < now())`;

// The endpoints that have a line, one by one: each is found by one step in the index, however long the lines are.
const DUE_ENDPOINTS = `due AS (
     (SELECT endpoint_id FROM deliveries WHERE state = 'pending' ORDER BY endpoint_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.endpoint_id FROM deliveries d WHERE d.state = 'pending' AND d.endpoint_id > due.endpoint_id
             ORDER BY d.endpoint_id LIMIT 1)
     FROM due WHERE due.endpoint_id IS NOT NULL)`;

// Whose merchant has the least under way comes first, and of a merchant's endpoints which has the least: so one that begins
// now never waits behind another's line. Of each
// endpoint only as many are looked at as could be its share, and at least four.
const CLAIM = statement(
  'delivery_claim',
  `WITH RECURSIVE ${DUE_ENDPOINTS},
   open_endpoints AS (
     SELECT e.id, e.merchant_id, coalesce(busy.under_way, 0) AS under_way,
            least($3 - coalesce(busy.under_way, 0), greatest(4, $1 / count(*) OVER ())) AS room
     FROM due JOIN endpoints e ON e.id = due.endpoint_id AND e.state = 'enabled' AND e.failing_since IS NULL
     LEFT JOIN unnest($5::text[], $6::int[]) AS busy (endpoint_id, under_way) ON busy.endpoint_id = e.id),
   candidates AS (
     SELECT d.id, coalesce(busy.under_way, 0)
              + row_number() OVER (PARTITION BY e.merchant_id ORDER BY e.under_way + d.place, e.id) AS turn
     FROM open_endpoints e
     LEFT JOIN unnest($7::text[], $8::int[]) AS busy (merchant_id, under_way) USING (merchant_id)
     CROSS JOIN LATERAL (
       SELECT free.id, row_number() OVER (ORDER BY free.id) AS place
       FROM (SELECT d.id FROM deliveries d WHERE d.endpoint_id = e.id AND ${IS_FREE}
             ORDER BY d.id LIMIT greatest(0, e.room) FOR UPDATE SKIP LOCKED) AS free) AS d),
   picked AS (SELECT id FROM candidates WHERE turn <= $4 ORDER BY turn, id LIMIT $1),
   leased AS (
     UPDATE deliveries d SET leased_until = now() + make_interval(secs => $2 / 1000.0)
     WHERE d.id IN (SELECT id FROM picked)
     RETURNING ${ARMED})
   SELECT ${DUE_COLUMNS} FROM leased d JOIN endpoints e ON e.id = d.endpoint_id JOIN events v ON v.id = d.event_id
   ORDER BY d.id`,
);

export type ClaimDeliveries = {
  readonly limit: number;
  readonly leaseMs: number;
  /** At most so many of one endpoint, and of one merchant, with those that are under way. */
  readonly perEndpoint: number;
  readonly perMerchant: number;
  readonly underWay: UnderWay;
};

/** How many attempts are being made by who claims. */
export type UnderWay = {
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  readonly byMerchant: ReadonlyMap<MerchantId, number>;
};

/**
 * Takes up to `limit` pending deliveries under a lease, of all endpoints that are enabled and accept. Two dispatchers
 * never hold the same one, unless the first let its lease run out.
 */
export async function claimDeliveries(db: Queryable, claim: ClaimDeliveries): Promise<DueDelivery[]> {
  const { byEndpoint, byMerchant } = claim.underWay;
  const rows = await db.run<DueDeliveryRow>(CLAIM, [
    claim.limit,
    claim.leaseMs,
    claim.perEndpoint,
    claim.perMerchant,
    [...byEndpoint.keys()],
    [...byEndpoint.values()],
    [...byMerchant.keys()],
    [...byMerchant.values()],
  ]);
  return rows.map(toDueDelivery);
}

// Who comes first among equals is left to chance: by age, a few dead endpoints with old lines would come first every time,
// and one whose single event waits would wait until those lines are at its end.
const HAND_OVER = statement(
  'delivery_hand_over',
  `WITH RECURSIVE ${DUE_ENDPOINTS},
   failing AS (
     SELECT e.id, e.merchant_id, greatest(4, $1 / count(*) OVER ()) AS room
     FROM due JOIN endpoints e ON e.id = due.endpoint_id AND e.state = 'enabled' AND e.failing_since IS NOT NULL),
   candidates AS (
     SELECT d.id, row_number() OVER (PARTITION BY e.merchant_id ORDER BY d.place, random()) AS turn
     FROM failing e
     CROSS JOIN LATERAL (
       SELECT free.id, row_number() OVER (ORDER BY free.id) AS place
       FROM (SELECT d.id FROM deliveries d WHERE d.endpoint_id = e.id AND ${IS_FREE}
             ORDER BY d.id LIMIT e.room FOR UPDATE SKIP LOCKED) AS free) AS d)
   UPDATE deliveries SET state = 'retrying', leased_until = NULL, workflow_started_at = NULL
   WHERE id IN (SELECT id FROM candidates ORDER BY turn, random() LIMIT $1)
   RETURNING id`,
);

/**
 * Leaves up to `limit` pending deliveries of endpoints that fail to workflows, of each merchant in turn and of each of its
 * endpoints: a receiver that is dead must not take the dispatcher's time, and a long line to it must not become as many
 * workflows at once.
 */
export async function handOverDeliveries(db: Queryable, limit: number): Promise<number> {
  return (await db.run(HAND_OVER, [limit])).length;
}

const WITHHOLD = statement(
  'delivery_withhold',
  `UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL, leased_until = NULL, updated_at = $2
   WHERE id IN (
     SELECT d.id FROM endpoints e CROSS JOIN LATERAL (
       SELECT d.id FROM deliveries d WHERE d.endpoint_id = e.id AND d.state IN ('pending', 'retrying')
       LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
     WHERE e.state = 'disabled' LIMIT $1)
   RETURNING id`,
);

/** Takes up to `limit` deliveries that are owed to endpoints that are disabled off the schedule. */
export async function withholdDeliveries(db: Queryable, limit: number, at: Date): Promise<number> {
  return (await db.run(WITHHOLD, [limit, at])).length;
}

const FIND_RETRYING = statement(
  'delivery_find_retrying',
  `SELECT ${DUE_COLUMNS} FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id JOIN events v ON v.id = d.event_id
   WHERE d.id = $1 AND d.state = 'retrying' AND d.replay_count = $2 AND e.state = 'enabled'`,
);

/** The delivery as the next attempt since this replay needs it, or null when none is owed any more. */
export async function findRetryingDelivery(
  db: Queryable,
  id: DeliveryId,
  replayCount: number,
): Promise<DueDelivery | null> {
  const [row] = await db.run<DueDeliveryRow>(FIND_RETRYING, [id, replayCount]);
  return row ? toDueDelivery(row) : null;
}

export type AttemptRecord = {
  readonly id: DeliveryId;
  /** 1 is the first; an attempt recorded twice under one number is recorded once. */
  readonly attemptNumber: number;
  /** Both as they were when the attempt was made. */
  readonly replayCount: number;
  readonly attemptsBeforeReplay: number;
  readonly attempt: Attempt;
  readonly next: NextStep;
  readonly at: Date;
};

// An attempt of before a replay is kept and decides nothing, and takes nobody's place: what decides is how many were
// recorded since the replay, and the number in the record is the next one that is free. An attempt that was under way when
// its endpoint was disabled still tells whether the event arrived.
const RECORD = statement(
  'delivery_record_attempts',
  `WITH moved AS (
     UPDATE deliveries d
     SET attempt_count = d.attempt_count + 1,
         attempts_before_replay = d.attempts_before_replay + (d.replay_count <> r.replay_count)::int,
         state = CASE WHEN d.replay_count <> r.replay_count OR d.state = 'withheld' AND r.state = 'retrying'
                 THEN d.state ELSE r.state END,
         next_attempt_at = CASE WHEN d.replay_count <> r.replay_count OR d.state = 'withheld'
                           THEN d.next_attempt_at ELSE r.next_attempt_at END,
         leased_until = CASE WHEN d.replay_count <> r.replay_count THEN d.leased_until END,
         updated_at = r.at
     FROM unnest($1::text[], $2::int[], $3::int[], $10::text[], $11::timestamptz[], $12::timestamptz[])
       AS r (id, step, replay_count, state, next_attempt_at, at)
     WHERE d.id = r.id AND d.state IN ('pending', 'retrying', 'withheld')
       AND (d.replay_count > r.replay_count OR d.attempt_count - d.attempts_before_replay = r.step - 1)
     RETURNING d.id, d.attempt_count),
   made AS (
     INSERT INTO delivery_attempts (delivery_id, attempt_number, started_at, duration_ms, status_code, error,
       response_headers, response_body)
     SELECT id, moved.attempt_count, started_at, duration_ms, status_code, error, response_headers, response_body
     FROM unnest($1::text[], $4::timestamptz[], $5::int[], $6::int[], $7::text[], $8::json[], $9::bytea[])
       AS a (id, started_at, duration_ms, status_code, error, response_headers, response_body)
     JOIN moved USING (id))
   SELECT id FROM moved`,
);

/**
 * Records attempts and what follows from each. Of two records under one attempt number the first stands; the ids of
 * those that took effect are returned.
 */
export async function recordAttempts(db: Queryable, attempts: readonly AttemptRecord[]): Promise<DeliveryId[]> {
  const records = firstOfEach(attempts);
  const rows = await db.run<{ id: DeliveryId }>(RECORD, [
    records.map((record) => record.id),
    records.map((record) => record.attemptNumber - record.attemptsBeforeReplay),
    records.map((record) => record.replayCount),
    records.map((record) => record.attempt.startedAt),
    records.map((record) => record.attempt.durationMs),
    ...attemptColumns(records.map((record) => record.attempt)),
    records.map((record) => record.next.state),
    records.map(({ next, at }) => (next.state === 'retrying' ? new Date(at.getTime() + next.delayMs) : null)),
    records.map((record) => record.at),
  ]);
  return rows.map((row) => row.id);
}

// One statement cannot say which of two records for one row it lets stand. Of before and after a replay it is the one that
// decides something.
function firstOfEach(records: readonly AttemptRecord[]): AttemptRecord[] {
  const firsts = new Map<DeliveryId, AttemptRecord>();
  for (const record of records) {
    if (record.replayCount > (firsts.get(record.id)?.replayCount ?? -1)) firsts.set(record.id, record);
  }
  return [...firsts.values()];
}

function attemptColumns(attempts: readonly Attempt[]): unknown[][] {
  const results = attempts.map((attempt) => attempt.result);
  return [
    results.map((result) => (result.kind === 'answered' ? result.statusCode : null)),
    results.map((result) => (result.kind === 'no_answer' ? result.error : null)),
    results.map((result) => (result.kind === 'answered' ? JSON.stringify(result.headers) : null)),
    results.map((result) => (result.kind === 'answered' ? result.body : null)),
  ];
}

function toDueDelivery(row: DueDeliveryRow): DueDelivery {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    attemptCount: row.attempt_count,
    replayCount: row.replay_count,
    attemptsBeforeReplay: row.attempts_before_replay,
    nextAttemptAt: row.next_attempt_at,
    isEndpointFailing: row.is_failing,
    url: row.url,
    secretsSealed:
      row.previous_secret_sealed === null ? [row.secret_sealed] : [row.secret_sealed, row.previous_secret_sealed],
    body: row.body,
  };
}

// Statements on deliveries and on the attempts made for them.
import type { Attempt, NextStep } from '../../domain/webhooks/delivery.ts';
import type { EventType } from '../../domain/event.ts';
import type { CollectionId, DeliveryId, EndpointId, EventId, MerchantId, PayoutId } from '../../domain/ids.ts';
import { columnsOf } from '../platform/columns.ts';
import { findOne, statement, type Queryable } from '../platform/database.ts';
import { endDeliveryWork, insertDeliveryWork } from '../work/work-rows.ts';

/** Everything that one attempt needs, as of one moment. */
export type DueDelivery = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly attemptCount: number;
  /** How often it was replayed. Attempts before the last replay no longer decide its state. */
  readonly replayCount: number;
  /** Attempts made before the last replay, which starts the schedule again. */
  readonly attemptsBeforeReplay: number;
  readonly nextAttemptAt: Date | null;
  readonly isEndpointFailing: boolean;
  readonly url: string;
  /** The current secret first; two while a rotation overlaps. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
  readonly eventType: EventType;
  /** The payment of the event; null: the event is about an endpoint. */
  readonly paymentId: CollectionId | PayoutId | null;
  /** The request that created the payment; null: none, or it was created before requests were recorded. */
  readonly requestId: string | null;
};

const DELIVERY_COLUMNS = `d.id, d.merchant_id, d.endpoint_id, d.event_id, d.attempt_count, d.replay_count, d.attempts_before_replay,
  d.next_attempt_at`;
const DUE_COLUMNS = `${DELIVERY_COLUMNS}, e.failing_since IS NOT NULL AS is_endpoint_failing, e.url,
  array_remove(ARRAY[e.secret_sealed, CASE WHEN e.previous_secret_until > now() THEN e.previous_secret_sealed END], NULL)
    AS secrets_sealed,
  v.body, v.type AS event_type, v.payment_id, v.request_id`;

// A range of one endpoint. For an equality PostgreSQL would prefer the primary key, which also has the order by id,
// whenever its statistics date from a moment with mostly pending deliveries; it would then read all deliveries since.
const unclaimedOf = (endpoint: string) => `SELECT d.id FROM deliveries d
       WHERE d.endpoint_id >= ${endpoint} AND d.endpoint_id <= ${endpoint} AND d.state = 'pending'
         AND (d.leased_until IS NULL OR d.leased_until < now())
       ORDER BY d.endpoint_id, d.id`;

// The endpoints with deliveries in one state. Each costs one step in the index, however long its backlog is.
const endpointsWith = (name: string, state: 'pending' | 'retrying') => `${name} AS (
     (SELECT endpoint_id FROM deliveries WHERE state = '${state}' ORDER BY endpoint_id LIMIT 1)
     UNION ALL
     SELECT (SELECT d.endpoint_id FROM deliveries d WHERE d.state = '${state}' AND d.endpoint_id > ${name}.endpoint_id
             ORDER BY d.endpoint_id LIMIT 1)
     FROM ${name} WHERE ${name}.endpoint_id IS NOT NULL)`;
/** The CTEs `due` and `retried` of a statement `WITH RECURSIVE`, each with ids of endpoints and a final null. */
export const ENDPOINTS_WITH_BACKLOG = endpointsWith('due', 'pending');
export const ENDPOINTS_WITH_RETRIES = endpointsWith('retried', 'retrying');

/** The least number of deliveries that a claim takes of each endpoint, if they exist and the limits allow. */
export const LEAST_SHARE = 4;

// The merchant with the fewest attempts in flight comes first, and within a merchant the endpoint with the fewest, so a
// new event never waits behind the backlog of another merchant or endpoint. From each endpoint the statement reads only
// as many rows as its share may be, and at least a few.
const CLAIM = statement('delivery_claim')`
  WITH RECURSIVE ${ENDPOINTS_WITH_BACKLOG},
  open_endpoints AS (
    SELECT e.id, e.merchant_id, coalesce(busy.in_flight, 0) AS in_flight,
           least(coalesce(($9::jsonb ->> e.id)::int, $3) - coalesce(busy.in_flight, 0),
                 greatest(${LEAST_SHARE}, $1 / count(*) OVER ())) AS capacity
    FROM due JOIN endpoints e ON e.id = due.endpoint_id AND e.state = 'enabled' AND e.failing_since IS NULL
    LEFT JOIN unnest($5::text[], $6::int[]) AS busy (endpoint_id, in_flight) ON busy.endpoint_id = e.id),
  candidates AS (
    SELECT d.id, coalesce(busy.in_flight, 0)
             + row_number() OVER (PARTITION BY e.merchant_id ORDER BY e.in_flight + d.position, e.id) AS turn
    FROM open_endpoints e
    LEFT JOIN unnest($7::text[], $8::int[]) AS busy (merchant_id, in_flight) USING (merchant_id)
    CROSS JOIN LATERAL (
      SELECT free.id, row_number() OVER (ORDER BY free.id) AS position
      FROM (${unclaimedOf('e.id')} LIMIT greatest(0, e.capacity) FOR UPDATE SKIP LOCKED) AS free) AS d),
  picked AS (SELECT id FROM candidates WHERE turn <= $4 ORDER BY turn, id LIMIT $1),
  leased AS (
    UPDATE deliveries d SET leased_until = now() + make_interval(secs => $2 / 1000.0)
    WHERE d.id = ANY(ARRAY(SELECT id FROM picked))
    RETURNING ${DELIVERY_COLUMNS})
  SELECT ${DUE_COLUMNS} FROM leased d
  CROSS JOIN LATERAL (SELECT * FROM endpoints WHERE id = d.endpoint_id LIMIT 1) AS e
  CROSS JOIN LATERAL (SELECT * FROM events WHERE id = d.event_id LIMIT 1) AS v
  ORDER BY d.id`;

export type ClaimDeliveries = {
  readonly limit: number;
  readonly leaseMs: number;
  /** Limits for one endpoint and for one merchant, including the attempts in flight. */
  readonly perEndpoint: number;
  /** The endpoints whose limit differs from `perEndpoint`. */
  readonly endpointLimits: ReadonlyMap<EndpointId, number>;
  readonly perMerchant: number;
  readonly inFlight: InFlight;
};

export type InFlight = {
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  readonly byMerchant: ReadonlyMap<MerchantId, number>;
};

/**
 * Claims up to `limit` pending deliveries under a lease, of endpoints that are enabled and not failing. Two dispatchers
 * hold one delivery only if the first one's lease expired; a dispatcher that loses a lease loses only the sole right to
 * send.
 */
export async function claimDeliveries(db: Queryable, claim: ClaimDeliveries): Promise<DueDelivery[]> {
  const { byEndpoint, byMerchant } = claim.inFlight;
  return db.run<DueDelivery>(CLAIM, [
    claim.limit,
    claim.leaseMs,
    claim.perEndpoint,
    claim.perMerchant,
    [...byEndpoint.keys()],
    [...byEndpoint.values()],
    [...byMerchant.keys()],
    [...byMerchant.values()],
    JSON.stringify(Object.fromEntries(claim.endpointLimits)),
  ]);
}

// The order among equals is random. Ordered by age, a few dead endpoints with old backlogs would always come first, and
// an endpoint with a single waiting event would wait until those backlogs are gone.
const ESCALATE = statement('delivery_escalate')`
  WITH RECURSIVE ${ENDPOINTS_WITH_BACKLOG},
  failing AS (
    SELECT e.id, e.merchant_id, greatest(4, $1 / count(*) OVER ()) AS capacity
    FROM due JOIN endpoints e ON e.id = due.endpoint_id AND e.state = 'enabled' AND e.failing_since IS NOT NULL),
  candidates AS (
    SELECT d.id, row_number() OVER (PARTITION BY e.merchant_id ORDER BY d.position, random()) AS turn
    FROM failing e
    CROSS JOIN LATERAL (
      SELECT free.id, row_number() OVER (ORDER BY free.id) AS position
      FROM (${unclaimedOf('e.id')} LIMIT e.capacity FOR UPDATE SKIP LOCKED) AS free) AS d),
  escalated AS (
    UPDATE deliveries SET state = 'retrying', leased_until = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM candidates ORDER BY turn, random() LIMIT $1))
    RETURNING id, merchant_id),
  new_work AS (${insertDeliveryWork('escalated')})
  SELECT id FROM escalated`;

/**
 * Escalates up to `limit` pending deliveries of failing endpoints to delivery workflows and returns how many. Merchants
 * take turns, and so do the endpoints of each. A dead receiver must not occupy the dispatcher, and its long backlog
 * must not become many workflows at once.
 */
export async function escalateDeliveries(db: Queryable, limit: number): Promise<number> {
  return (await db.run(ESCALATE, [limit])).length;
}

// Found from owed deliveries: endpoints disabled long ago, or deleted, cost nothing.
const WITHHOLD = statement('delivery_withhold')`
  WITH RECURSIVE ${ENDPOINTS_WITH_BACKLOG}, ${ENDPOINTS_WITH_RETRIES},
  withheld AS (
    UPDATE deliveries SET state = 'withheld', next_attempt_at = NULL, leased_until = NULL, updated_at = $2
    WHERE id = ANY(ARRAY(
      SELECT d.id FROM (SELECT endpoint_id FROM due UNION SELECT endpoint_id FROM retried) AS owed
      CROSS JOIN LATERAL (
        SELECT d.id FROM deliveries d
        WHERE d.endpoint_id >= owed.endpoint_id AND d.endpoint_id <= owed.endpoint_id AND d.state IN ('pending', 'retrying')
        ORDER BY d.endpoint_id LIMIT $1 FOR UPDATE SKIP LOCKED) AS d
      WHERE (SELECT e.state FROM endpoints e WHERE e.id = owed.endpoint_id) = 'disabled'
      LIMIT $1))
    RETURNING id),
  ended_work AS (${endDeliveryWork('SELECT id FROM withheld')})
  SELECT id FROM withheld`;

/** Withholds up to `limit` deliveries to disabled endpoints, until somebody replays them; returns how many. */
export async function withholdDeliveries(db: Queryable, limit: number, at: Date): Promise<number> {
  return (await db.run(WITHHOLD, [limit, at])).length;
}

const FIND_RETRYING = statement('delivery_find_retrying')`
  SELECT ${DUE_COLUMNS} FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id JOIN events v ON v.id = d.event_id
  WHERE d.id = $1 AND d.state = 'retrying' AND d.replay_count = $2 AND e.state = 'enabled'`;

/** The delivery for its next attempt, or null if none is owed under this `replayCount`. */
export async function findRetryingDelivery(
  db: Queryable,
  id: DeliveryId,
  replayCount: number,
): Promise<DueDelivery | null> {
  return findOne<DueDelivery>(db, FIND_RETRYING, [id, replayCount]);
}

/** With the delivery's values when the attempt was made. */
export type AttemptRecord = Pick<DueDelivery, 'id' | 'replayCount' | 'attemptsBeforeReplay'> & {
  /** Counts from 1. Recording one number twice records one attempt. */
  readonly attemptNumber: number;
  readonly attempt: Attempt;
  readonly next: NextStep;
  readonly at: Date;
};

// An attempt that began before a replay is stored, but does not change the state or take the number of a later attempt:
// records are compared by the number of attempts since the replay, and each is stored under the next free number. An
// attempt in flight when its endpoint was disabled still decides whether the event was delivered.
const RECORD = statement('delivery_record_attempts')`
  WITH updated AS (
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
    WHERE d.id = r.id AND d.state NOT IN ('delivered', 'dead_lettered')
      AND (d.replay_count > r.replay_count OR d.attempt_count - d.attempts_before_replay = r.step - 1)
    RETURNING d.id, d.merchant_id, d.attempt_count, d.endpoint_id, d.state, d.next_attempt_at),
  kept_work AS (
    ${insertDeliveryWork(`updated WHERE state = 'retrying'`)}
    ON CONFLICT (id, task) DO UPDATE SET failures = 0, start_failures = 0,
      due_at = (SELECT next_attempt_at FROM updated WHERE updated.id = work.id)
        + CASE WHEN work.is_started THEN make_interval(secs => $13 / 1000.0) ELSE interval '0' END),
  ended_work AS (${endDeliveryWork(`SELECT id FROM updated WHERE state <> 'retrying'`)}),
  inserted AS (
    INSERT INTO delivery_attempts (delivery_id, attempt_number, started_at, duration_ms, status_code, error,
      response_headers, response_body)
    SELECT id, updated.attempt_count, started_at, duration_ms, status_code, error, response_headers, response_body
    FROM unnest($1::text[], $4::timestamptz[], $5::int[], $6::int[], $7::text[], $8::json[], $9::bytea[])
      AS a (id, started_at, duration_ms, status_code, error, response_headers, response_body)
    JOIN updated USING (id))
  SELECT id, endpoint_id,
    (SELECT failing_since IS NOT NULL FROM endpoints WHERE endpoints.id = updated.endpoint_id) AS is_endpoint_failing
  FROM updated`;

/** A delivery whose record took effect, and whether its endpoint was failing at that time. */
export type RecordedDelivery = Pick<DueDelivery, 'id' | 'endpointId' | 'isEndpointFailing'>;

/**
 * Records attempts and the next state of each delivery. Of two records with one attempt number the first counts.
 * Returns the deliveries whose record took effect. A delivery's workflow is checked once its next attempt is overdue by
 * `overdueMs`.
 */
export async function recordAttempts(
  db: Queryable,
  attempts: readonly AttemptRecord[],
  overdueMs: number,
): Promise<RecordedDelivery[]> {
  const records = firstPerDelivery(attempts);
  return db.run<RecordedDelivery>(RECORD, [
    records.map((record) => record.id),
    records.map((record) => record.attemptNumber - record.attemptsBeforeReplay),
    records.map((record) => record.replayCount),
    ...attemptColumns(records.map((record) => record.attempt)),
    records.map((record) => record.next.state),
    records.map(({ next, at }) => (next.state === 'retrying' ? new Date(at.getTime() + next.delayMs) : null)),
    records.map((record) => record.at),
    overdueMs,
  ]);
}

// One statement must not update a row twice. Of records before and after a replay, the later one decides the state.
function firstPerDelivery(records: readonly AttemptRecord[]): AttemptRecord[] {
  const firsts = new Map<DeliveryId, AttemptRecord>();
  for (const record of records) {
    if (record.replayCount > (firsts.get(record.id)?.replayCount ?? -1)) firsts.set(record.id, record);
  }
  return [...firsts.values()];
}

function attemptColumns(attempts: readonly Attempt[]): unknown[][] {
  const results = attempts.map((attempt) => attempt.result);
  return [
    ...columnsOf(attempts, 'startedAt', 'durationMs'),
    results.map((result) => (result.kind === 'answered' ? result.statusCode : null)),
    results.map((result) => (result.kind === 'no_answer' ? result.error : null)),
    results.map((result) => (result.kind === 'answered' ? JSON.stringify(result.headers) : null)),
    results.map((result) => (result.kind === 'answered' ? result.body : null)),
  ];
}

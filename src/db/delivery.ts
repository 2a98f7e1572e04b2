// Rows of deliveries and of the attempts made for them.
import type { Attempt, NextStep } from '../domain/delivery.ts';
import type { DeliveryId, EndpointId, EventId, MerchantId } from '../domain/ids.ts';
import { statement, type Queryable } from './database.ts';

/** All that one attempt needs, read at one instant. */
export type DueDelivery = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly eventId: EventId;
  readonly attemptCount: number;
  /** Whether the endpoint's last attempt failed. */
  readonly isEndpointFailing: boolean;
  readonly url: string;
  /** Those in force, the newest first. */
  readonly secretsSealed: readonly [string, ...string[]];
  readonly body: string;
};

type DueDeliveryRow = {
  id: DeliveryId;
  merchant_id: MerchantId;
  endpoint_id: EndpointId;
  event_id: EventId;
  attempt_count: number;
  is_failing: boolean;
  url: string;
  secret_sealed: string;
  body: string;
};

const DUE_COLUMNS = `d.id, d.merchant_id, d.endpoint_id, d.event_id, d.attempt_count, e.is_failing, e.url, e.secret_sealed, v.body`;

// What fails already is left for its workflow in the same step, so that it takes none of the batch.
const CLAIM = statement(
  'delivery_claim',
  `WITH picked AS (
     SELECT d.id, e.is_failing FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id
     WHERE d.state = 'pending' AND (d.leased_until IS NULL OR d.leased_until < now())
     ORDER BY d.id LIMIT $1 FOR UPDATE OF d SKIP LOCKED),
   moved AS (
     UPDATE deliveries SET state = 'retrying', leased_until = NULL WHERE id IN (SELECT id FROM picked WHERE is_failing)
     RETURNING id),
   leased AS (
     UPDATE deliveries SET leased_until = now() + make_interval(secs => $2 / 1000.0)
     WHERE id IN (SELECT id FROM picked WHERE NOT is_failing)
     RETURNING id, merchant_id, endpoint_id, event_id, attempt_count)
   SELECT ${DUE_COLUMNS} FROM leased d JOIN endpoints e ON e.id = d.endpoint_id JOIN events v ON v.id = d.event_id`,
);

/**
 * Takes up to `limit` pending deliveries under a lease. Two dispatchers never hold the same one, unless the first let
 * its lease run out. Deliveries of an endpoint that fails already become `retrying` and are not returned.
 */
export async function claimDeliveries(db: Queryable, limit: number, leaseMs: number): Promise<DueDelivery[]> {
  const rows = await db.run<DueDeliveryRow>(CLAIM, [limit, leaseMs]);
  return rows.map(toDueDelivery);
}

const FIND_RETRYING = statement(
  'delivery_find_retrying',
  `SELECT ${DUE_COLUMNS} FROM deliveries d JOIN endpoints e ON e.id = d.endpoint_id JOIN events v ON v.id = d.event_id
   WHERE d.id = $1 AND d.state = 'retrying'`,
);

/** The delivery as the next attempt needs it, or null when none is owed any more. */
export async function findRetryingDelivery(db: Queryable, id: DeliveryId): Promise<DueDelivery | null> {
  const [row] = await db.run<DueDeliveryRow>(FIND_RETRYING, [id]);
  return row ? toDueDelivery(row) : null;
}

export type AttemptRecord = {
  readonly id: DeliveryId;
  /** 1 is the first; an attempt recorded twice under one number is recorded once. */
  readonly attemptNumber: number;
  readonly attempt: Attempt;
  readonly next: NextStep;
  readonly at: Date;
};

const RECORD = statement(
  'delivery_record_attempts',
  `WITH made AS (
     INSERT INTO delivery_attempts (delivery_id, attempt_number, started_at, duration_ms, status_code, error,
       response_headers, response_body)
     SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[], $4::int[], $5::int[], $6::text[], $7::json[], $8::bytea[])
     ON CONFLICT (delivery_id, attempt_number) DO NOTHING)
   UPDATE deliveries d
   SET state = r.state, attempt_count = r.attempt_number, next_attempt_at = r.next_attempt_at, leased_until = NULL,
       updated_at = r.at
   FROM unnest($1::text[], $2::int[], $9::text[], $10::timestamptz[], $11::timestamptz[])
     AS r (id, attempt_number, state, next_attempt_at, at)
   WHERE d.id = r.id AND d.state IN ('pending', 'retrying') AND d.attempt_count = r.attempt_number - 1
   RETURNING d.id`,
);

/**
 * Records attempts and what follows from each. Of two records under one attempt number the first stands; the ids of
 * those that took effect are returned.
 */
export async function recordAttempts(db: Queryable, attempts: readonly AttemptRecord[]): Promise<DeliveryId[]> {
  const records = firstOfEach(attempts);
  const rows = await db.run<{ id: DeliveryId }>(RECORD, [
    records.map((record) => record.id),
    records.map((record) => record.attemptNumber),
    records.map((record) => record.attempt.startedAt),
    records.map((record) => record.attempt.durationMs),
    ...attemptColumns(records.map((record) => record.attempt)),
    records.map((record) => record.next.state),
    records.map(({ next, at }) => (next.state === 'retrying' ? new Date(at.getTime() + next.delayMs) : null)),
    records.map((record) => record.at),
  ]);
  return rows.map((row) => row.id);
}

// One statement cannot say which of two records for one row it lets stand.
function firstOfEach(records: readonly AttemptRecord[]): AttemptRecord[] {
  const firsts = new Map<DeliveryId, AttemptRecord>();
  for (const record of records) if (!firsts.has(record.id)) firsts.set(record.id, record);
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

export type DeliveryNotStarted = {
  readonly id: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly nextAttemptAt: Date | null;
};

const LIST_NOT_STARTED = statement(
  'delivery_list_not_started',
  `SELECT id, merchant_id, endpoint_id, next_attempt_at FROM deliveries
   WHERE state = 'retrying' AND workflow_started_at IS NULL ORDER BY id LIMIT $1`,
);

/** Deliveries that are owed further attempts and that no workflow is known to have been started for. */
export async function listDeliveriesNotStarted(db: Queryable, limit: number): Promise<DeliveryNotStarted[]> {
  const rows = await db.run<{
    id: DeliveryId;
    merchant_id: MerchantId;
    endpoint_id: EndpointId;
    next_attempt_at: Date | null;
  }>(LIST_NOT_STARTED, [limit]);
  return rows.map((row) => ({
    id: row.id,
    merchantId: row.merchant_id,
    endpointId: row.endpoint_id,
    nextAttemptAt: row.next_attempt_at,
  }));
}

const MARK_STARTED = statement(
  'delivery_mark_started',
  'UPDATE deliveries SET workflow_started_at = $2 WHERE id = ANY($1) AND workflow_started_at IS NULL',
);

export async function markDeliveriesStarted(db: Queryable, ids: readonly DeliveryId[], at: Date): Promise<void> {
  await db.run(MARK_STARTED, [ids, at]);
}

const RELEASE_OVERDUE = statement(
  'delivery_release_overdue',
  `UPDATE deliveries SET workflow_started_at = NULL
   WHERE id IN (SELECT id FROM deliveries WHERE state = 'retrying' AND workflow_started_at < $1 AND next_attempt_at < $1
                ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING id`,
);

/** Gives deliveries whose next attempt is overdue back to the dispatcher, which starts a workflow again if none is open. */
export async function releaseOverdueDeliveries(db: Queryable, dueBefore: Date, limit: number): Promise<number> {
  return (await db.run(RELEASE_OVERDUE, [dueBefore, limit])).length;
}

function toDueDelivery(row: DueDeliveryRow): DueDelivery {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    attemptCount: row.attempt_count,
    isEndpointFailing: row.is_failing,
    url: row.url,
    secretsSealed: [row.secret_sealed],
    body: row.body,
  };
}

// Reads deliveries and their attempts for a merchant's people.
import type { DeliveryState, ListedDelivery, RecordedAttempt } from '../../domain/webhooks/delivery.ts';
import type { EventType } from '../../domain/event.ts';
import { lowestIdAt, type DeliveryId, type EndpointId, type EventId, type MerchantId } from '../../domain/ids.ts';
import { statement, type Queryable, type Statement } from '../database.ts';

type ListedRow = {
  id: DeliveryId;
  event_id: EventId;
  event_type: EventType;
  endpoint_id: EndpointId;
  state: DeliveryState;
  attempt_count: number;
  replay_count: number;
  next_attempt_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `d.id, d.event_id, v.type AS event_type, d.endpoint_id, d.state, d.attempt_count, d.replay_count,
  d.next_attempt_at, d.created_at, d.updated_at`;

export type DeliveryFilter = {
  readonly endpointId?: EndpointId;
  readonly eventId?: EventId;
  readonly state?: DeliveryState;
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
  /** Only deliveries older than this id. */
  readonly before?: DeliveryId;
};

/** The newest deliveries that match the filter, at most `limit`. */
export async function listDeliveries(
  db: Queryable,
  merchantId: MerchantId,
  filter: DeliveryFilter,
  limit: number,
): Promise<ListedDelivery[]> {
  const { query, values } = listStatement(filter);
  const { createdFrom, createdTo, before } = filter;
  const rows = await db.run<ListedRow>(query, [
    merchantId,
    limit,
    createdFrom ? lowestIdAt('dlv', createdFrom.getTime()) : 'dlv_',
    createdTo ? lowestIdAt('dlv', createdTo.getTime()) : 'dlv_~',
    before ?? 'dlv_~',
    ...values,
  ]);
  return rows.map(toListed);
}

// An id begins with its creation time, so a condition on time is one on the id: a page is one index range, at any depth.
function listStatement({ endpointId, eventId, state }: DeliveryFilter): { query: Statement; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (column: string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`AND d.${column} = $${values.length + 5}`);
  };
  add('endpoint_id', endpointId);
  add('event_id', eventId);
  add('state', state);
  // The index for rare states is by endpoint, so a page of one state is merged from the pages of each endpoint.
  const isByStateOnly = state !== undefined && endpointId === undefined && eventId === undefined;
  const where = `d.merchant_id = $1 AND d.id >= $3 AND d.id < $4 AND d.id < $5 ${conditions.join(' ')}`;
  const page = isByStateOnly
    ? `SELECT d.* FROM endpoints e CROSS JOIN LATERAL (
         SELECT * FROM deliveries d WHERE d.endpoint_id = e.id AND ${where} ORDER BY d.id DESC LIMIT $2) AS d
       WHERE e.merchant_id = $1 ORDER BY d.id DESC LIMIT $2`
    : `SELECT * FROM deliveries d WHERE ${where} ORDER BY d.id DESC LIMIT $2`;
  const text = `SELECT ${COLUMNS} FROM (${page}) AS d JOIN events v ON v.id = d.event_id ORDER BY d.id DESC`;
  const shape = [endpointId && 'endpoint', eventId && 'event', state && 'state'].filter(Boolean).join('_');
  return { query: statement(`delivery_list_${shape}`, text), values };
}

const FIND = statement(
  'delivery_find',
  `SELECT ${COLUMNS} FROM deliveries d JOIN events v ON v.id = d.event_id WHERE d.id = $1 AND d.merchant_id = $2`,
);

export async function findDelivery(
  db: Queryable,
  merchantId: MerchantId,
  id: DeliveryId,
): Promise<ListedDelivery | null> {
  const [row] = await db.run<ListedRow>(FIND, [id, merchantId]);
  return row ? toListed(row) : null;
}

const LIST_OF_EVENT = statement(
  'delivery_list_of_event',
  `SELECT ${COLUMNS} FROM deliveries d JOIN events v ON v.id = d.event_id
   WHERE d.event_id = $1 AND d.merchant_id = $2 ORDER BY d.id`,
);

/** One delivery for each endpoint that the event is owed to: at most as many as a merchant can have endpoints. */
export async function listDeliveriesOfEvent(
  db: Queryable,
  merchantId: MerchantId,
  eventId: EventId,
): Promise<ListedDelivery[]> {
  return (await db.run<ListedRow>(LIST_OF_EVENT, [eventId, merchantId])).map(toListed);
}

type AttemptRow = {
  attempt_number: number;
  started_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_headers: Record<string, string> | null;
  response_body: Buffer | null;
};

const LIST_ATTEMPTS = statement(
  'delivery_list_attempts',
  `SELECT attempt_number, started_at, duration_ms, status_code, error, response_headers, response_body
   FROM (SELECT * FROM delivery_attempts WHERE delivery_id = $1 ORDER BY attempt_number DESC LIMIT $2) AS newest
   ORDER BY attempt_number`,
);

/** The newest `limit` attempts, oldest first. */
export async function listAttempts(db: Queryable, id: DeliveryId, limit: number): Promise<RecordedAttempt[]> {
  const rows = await db.run<AttemptRow>(LIST_ATTEMPTS, [id, limit]);
  return rows.map((row) => ({
    number: row.attempt_number,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    statusCode: row.status_code,
    error: row.error,
    responseHeaders: row.response_headers,
    responseBody: row.response_body,
  }));
}

function toListed(row: ListedRow): ListedDelivery {
  return {
    id: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    endpointId: row.endpoint_id,
    state: row.state,
    attemptCount: row.attempt_count,
    replayCount: row.replay_count,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

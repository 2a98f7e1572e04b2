// Reads deliveries and their attempts for a merchant's people.
import type { DeliveryState, ListedDelivery, RecordedAttempt } from '../../domain/webhooks/delivery.ts';
import type { CollectionId, DeliveryId, EndpointId, EventId, MerchantId, PayoutId } from '../../domain/ids.ts';
import { composedStatement, findOne, statement, type Queryable } from '../platform/database.ts';
import { conditionsOf, idBounds, readPage, type ListRange, type Page } from '../platform/page.ts';
import { columnOfObject } from './event.ts';

const COLUMNS = `d.id, d.event_id, v.type AS event_type, d.endpoint_id, d.state, d.attempt_count, d.replay_count,
  d.next_attempt_at, d.created_at, d.updated_at`;

export type DeliveryFilter = ListRange<DeliveryId> & {
  readonly endpointId?: EndpointId;
  readonly eventId?: EventId;
  /** Only deliveries of events about this payment. */
  readonly objectId?: CollectionId | PayoutId;
  readonly state?: DeliveryState;
};

/** A page of the newest matching deliveries: empty for an endpoint or event of another merchant. */
export async function listDeliveries(
  db: Queryable,
  merchantId: MerchantId,
  filter: DeliveryFilter,
  limit: number,
): Promise<Page<ListedDelivery>> {
  const { query, values } = listStatement(filter);
  const bounds = idBounds('dlv', filter);
  return readPage(limit, (count) => db.run<ListedDelivery>(query, [merchantId, count, ...bounds, ...values]));
}

function listStatement({ endpointId, eventId, objectId, state }: DeliveryFilter) {
  const { conditions, values } = conditionsOf(6, [
    ['d.endpoint_id = ?', endpointId],
    ['d.event_id = ?', eventId],
    ['d.state = ?', state],
  ]);
  // A payment has few events: they are found first, however many deliveries the merchant has.
  const source = objectId === undefined ? 'deliveries' : 'of_object';
  const ofObject =
    objectId === undefined
      ? ''
      : `WITH of_object AS MATERIALIZED (
           SELECT d.* FROM events v JOIN deliveries d ON d.event_id = v.id
           WHERE v.merchant_id = $1 AND v.${columnOfObject(objectId)} = $${6 + values.length}) `;
  // The index for rare states is by endpoint, so a page of one state is merged from the pages of each endpoint.
  const isByStateOnly =
    state !== undefined && endpointId === undefined && eventId === undefined && objectId === undefined;
  const where = `d.merchant_id = $1 AND d.id >= $3 AND d.id < $4 AND d.id < $5${conditions}`;
  const page = isByStateOnly
    ? `SELECT d.* FROM endpoints e CROSS JOIN LATERAL (
         SELECT * FROM deliveries d WHERE d.endpoint_id = e.id AND ${where} ORDER BY d.id DESC LIMIT $2) AS d
       WHERE e.merchant_id = $1 ORDER BY d.id DESC LIMIT $2`
    : `SELECT * FROM ${source} d WHERE ${where} ORDER BY d.id DESC LIMIT $2`;
  const text = `${ofObject}SELECT ${COLUMNS} FROM (${page}) AS d JOIN events v ON v.id = d.event_id ORDER BY d.id DESC`;
  const query = composedStatement('delivery_list', text);
  return { query, values: objectId === undefined ? values : [...values, objectId] };
}

const FIND = statement('delivery_find')`
  SELECT ${COLUMNS} FROM deliveries d JOIN events v ON v.id = d.event_id WHERE d.id = $1 AND d.merchant_id = $2`;

export async function findDelivery(
  db: Queryable,
  merchantId: MerchantId,
  id: DeliveryId,
): Promise<ListedDelivery | null> {
  return findOne<ListedDelivery>(db, FIND, [id, merchantId]);
}

const LIST_OF_EVENT = statement('delivery_list_of_event')`
  SELECT ${COLUMNS} FROM deliveries d JOIN events v ON v.id = d.event_id
  WHERE d.event_id = $1 AND d.merchant_id = $2 ORDER BY d.id`;

/** One delivery for each endpoint to which the event is owed: at most as many as a merchant can have endpoints. */
export async function listDeliveriesOfEvent(
  db: Queryable,
  merchantId: MerchantId,
  eventId: EventId,
): Promise<ListedDelivery[]> {
  return db.run<ListedDelivery>(LIST_OF_EVENT, [eventId, merchantId]);
}

const LIST_ATTEMPTS = statement('delivery_list_attempts')`
  SELECT attempt_number AS number, started_at, duration_ms, status_code, error, response_headers, response_body
  FROM (SELECT * FROM delivery_attempts WHERE delivery_id = $1 ORDER BY attempt_number DESC LIMIT $2) AS newest
  ORDER BY attempt_number`;

/** The newest `limit` attempts, oldest first. */
export async function listAttempts(db: Queryable, id: DeliveryId, limit: number): Promise<RecordedAttempt[]> {
  return db.run<RecordedAttempt>(LIST_ATTEMPTS, [id, limit]);
}

// Reads events for lists and pages, and inserts events that do not belong to a payment's change.
import type { EventType, ListedEvent } from '../../domain/event.ts';
import { isId, type DeliveryId, type EndpointId, type EventId, type MerchantId } from '../../domain/ids.ts';
import {
  composedStatement,
  DELIVERIES_OWED,
  findOne,
  statement,
  type Queryable,
  type Tx,
} from '../platform/database.ts';
import { conditionsOf, idBounds, readPage, type ListRange, type Page } from '../platform/page.ts';

export type EndpointEvent = {
  readonly id: EventId;
  readonly deliveryId: DeliveryId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly type: EventType;
  readonly body: string;
  readonly at: Date;
};

const INSERT_OF_ENDPOINT = statement('event_insert_of_endpoint')`
  WITH event AS (
    INSERT INTO events (id, merchant_id, type, endpoint_id, body, created_at) VALUES ($1, $3, $5, $4, $6, $7))
  INSERT INTO deliveries (id, event_id, endpoint_id, merchant_id, state, next_attempt_at, created_at, updated_at)
  VALUES ($2, $1, $4, $3, 'pending', $7, $7, $7)`;

/** Inserts an event about an endpoint, owed to that endpoint and no other. */
export async function insertEndpointEvent(tx: Tx, event: EndpointEvent): Promise<void> {
  const { id, deliveryId, merchantId, endpointId, type, body, at } = event;
  await tx.run(INSERT_OF_ENDPOINT, [id, deliveryId, merchantId, endpointId, type, body, at]);
  tx.announce(DELIVERIES_OWED);
}

const COLUMNS = 'id, type, coalesce(payment_id, endpoint_id) AS object_id, created_at';

export type EventFilter = ListRange<EventId> & {
  readonly type?: EventType;
  readonly objectId?: ListedEvent['objectId'];
};

export async function listEvents(
  db: Queryable,
  merchantId: MerchantId,
  { type, objectId, ...range }: EventFilter,
  limit: number,
): Promise<Page<ListedEvent>> {
  const { conditions, values } = conditionsOf(6, [
    [`${columnOfObject(objectId)} = ?`, objectId],
    ['type = ?', type],
  ]);
  const where = `merchant_id = $1 AND id >= $3 AND id < $4 AND id < $5${conditions}`;
  const query = composedStatement(
    'events_list',
    `SELECT ${COLUMNS} FROM events WHERE ${where} ORDER BY id DESC LIMIT $2`,
  );
  const bounds = idBounds('evt', range);
  return readPage(limit, (count) => db.run<ListedEvent>(query, [merchantId, count, ...bounds, ...values]));
}

/** The column of events that holds an id of this kind. */
export function columnOfObject(id: ListedEvent['objectId'] | undefined): 'payment_id' | 'endpoint_id' {
  return id !== undefined && isId('whe', id) ? 'endpoint_id' : 'payment_id';
}

const FIND = statement('event_find')`SELECT ${COLUMNS}, body FROM events WHERE id = $1 AND merchant_id = $2`;

export async function findEvent(
  db: Queryable,
  merchantId: MerchantId,
  id: EventId,
): Promise<(ListedEvent & { readonly body: string }) | null> {
  return findOne<ListedEvent & { body: string }>(db, FIND, [id, merchantId]);
}

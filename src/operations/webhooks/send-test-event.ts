// Creates a test event for one endpoint.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { getEndpoint } from '../../db/webhooks/endpoint.ts';
import { insertEndpointEvent } from '../../db/webhooks/event.ts';
import { endpointObject } from '../../domain/webhooks/endpoint.ts';
import { DomainError } from '../../domain/errors.ts';
import { endpointTestEvent, type Environment } from '../../domain/event.ts';
import { newId, type DeliveryId, type EventId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

export type SendTestEvent = {
  readonly id: string;
  readonly environment: Environment;
  readonly failingLimitMs: number;
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * Returns the ids of the event and of its one delivery: to this endpoint, whatever event types it has selected, and to no
 * other. The event is sent, retried and stored like any other. Not idempotent: each call creates another. Throws
 * `endpoint_not_found`, and `state_conflict` while the endpoint is disabled.
 */
export async function sendTestEvent(
  db: Database,
  input: SendTestEvent,
): Promise<{ readonly eventId: EventId; readonly deliveryId: DeliveryId }> {
  const { by, at, failingLimitMs, environment } = input;
  const { merchantId } = by.person;
  // Not locked, or many events for one endpoint would wait for each other: what is owed to an endpoint that is disabled or deleted
  // in this very moment is withheld, as an event of a payment is.
  const endpoint = await getEndpoint(db, merchantId, input.id);
  if (endpoint.state === 'disabled') {
    throw new DomainError('state_conflict', 'This endpoint is disabled. Enable it before you test it.');
  }
  return db.withTransaction(async (tx) => {
    const [eventId, deliveryId] = [newId('evt', at.getTime()), newId('dlv', at.getTime())];
    const shown = endpointObject(endpoint, { at, failingLimitMs });
    const event = endpointTestEvent(shown, { id: eventId, at, environment });
    await insertEndpointEvent(tx, { id: eventId, deliveryId, merchantId, endpointId: endpoint.id, at, ...event });
    const after = { event_id: eventId, delivery_id: deliveryId };
    await recordAct(tx, by, { action: 'endpoint.tested', subjectId: endpoint.id, after, at });
    return { eventId, deliveryId };
  });
}

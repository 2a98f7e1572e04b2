// Changes, tests and deletes webhook endpoints of a merchant, and replaces their signing secrets.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  changeEndpoint as changeRow,
  findEndpointLocked,
  rotateEndpointSecret as rotateRow,
  getEndpoint,
  deleteEndpoint as deleteRow,
} from '../../db/webhooks/endpoint.ts';
import { insertEndpointEvent } from '../../db/webhooks/event.ts';
import type { ActedBy, ByPerson } from '../../domain/accounts/member.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import { endpointTestEvent, type Environment } from '../../domain/event.ts';
import { isId, newId, type DeliveryId, type EventId, type MerchantId } from '../../domain/ids.ts';
import {
  changedEndpoint,
  endpointObject,
  type Endpoint,
  type EndpointSettings,
  type EndpointWithSecret,
} from '../../domain/webhooks/endpoint.ts';
import { seal, type KeyRing } from '../../security/sealing.ts';
import { generateEndpointSecret } from '../../security/webhook-signature.ts';

export type ChangeEndpoint = ByPerson & {
  readonly id: string;
  /** The caller checks a new URL against the address guard; every attempt checks it again. */
  readonly changes: Partial<EndpointSettings>;
};

/**
 * Returns the endpoint after the change. Deliveries to a disabled endpoint are withheld. After it is enabled they stay
 * withheld until somebody replays them. Each of two concurrent changes keeps the settings of the other. Setting the
 * current values changes nothing. Throws `endpoint_not_found`.
 */
export async function changeEndpoint(db: Database, { id, changes, by, at }: ChangeEndpoint): Promise<Endpoint> {
  return db.withTransaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, by.person.merchantId, id);
    const changed = changedEndpoint(endpoint, changes, at);
    if (changed === endpoint) return endpoint;
    await changeRow(tx, changed);
    const values = { before: settingsOf(endpoint), after: settingsOf(changed) };
    await recordAct(tx, by, { action: 'endpoint.changed', subjectId: endpoint.id, ...values, at });
    return changed;
  });
}

export type RotateEndpointSecret = ByPerson & {
  readonly id: string;
  /** How long the current secret still signs beside the new one; 0: it stops signing now. */
  readonly keepPreviousForMs: number;
  readonly keyRing: KeyRing;
};

/**
 * Returns the endpoint with its new secret, which is not shown again. The secret signs every attempt that begins from
 * now on. At most two secrets sign at a time: an older one that still overlapped stops signing now. Not idempotent:
 * each call creates another secret. Throws `endpoint_not_found`.
 */
export async function rotateEndpointSecret(db: Database, input: RotateEndpointSecret): Promise<EndpointWithSecret> {
  const { id, keepPreviousForMs, by, at } = input;
  return db.withTransaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, by.person.merchantId, id);
    const secret = generateEndpointSecret();
    const previousUntil = keepPreviousForMs === 0 ? null : new Date(at.getTime() + keepPreviousForMs);
    await rotateRow(tx, endpoint.id, { secretSealed: seal(secret, endpoint.id, input.keyRing), previousUntil, at });
    const change = {
      before: { previous_secret_until: endpoint.previousSecretUntil },
      after: { previous_secret_until: previousUntil },
    };
    await recordAct(tx, by, { action: 'endpoint.secret_rotated', subjectId: endpoint.id, ...change, at });
    return { ...endpoint, previousSecretUntil: previousUntil, updatedAt: at, secret };
  });
}

export type SendTestEvent = ByPerson & {
  readonly id: string;
  readonly environment: Environment;
  readonly failingLimitMs: number;
};

/**
 * The ids of the event and of its one delivery, to this endpoint alone, whatever event types it has selected. The event
 * is sent, retried and stored like any other. Not idempotent: each call creates another event. Throws
 * `endpoint_not_found`, and `state_conflict` while the endpoint is disabled.
 */
export async function sendTestEvent(
  db: Database,
  input: SendTestEvent,
): Promise<{ readonly eventId: EventId; readonly deliveryId: DeliveryId }> {
  const { by, at, failingLimitMs, environment } = input;
  const { merchantId } = by.person;
  // Not locked, because many events for one endpoint would wait for each other. If the endpoint is disabled or deleted
  // concurrently, the delivery is withheld, like that of a payment's event.
  const endpoint = await getEndpoint(db, merchantId, input.id);
  if (endpoint.state === 'disabled') throw stateConflict('This endpoint is disabled. Enable it before you test it.');
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

export type DeleteEndpoint = {
  readonly merchantId: MerchantId;
  readonly id: string;
  /** Null: the service staff. */
  readonly by: ActedBy | null;
  readonly at: Date;
};

/**
 * The endpoint is deleted from now on: it gets no new delivery, existing deliveries are withheld, and its secrets are
 * erased. Its deliveries stay visible. Throws `endpoint_not_found`, also if it was already deleted.
 */
export async function deleteEndpoint(db: Database, { merchantId, id, by, at }: DeleteEndpoint): Promise<void> {
  await db.withTransaction(async (tx) => {
    const endpoint = await lockEndpoint(tx, merchantId, id);
    await deleteRow(tx, endpoint.id, at);
    if (by === null) return;
    await recordAct(tx, by, { action: 'endpoint.deleted', subjectId: endpoint.id, before: settingsOf(endpoint), at });
  });
}

async function lockEndpoint(tx: Tx, merchantId: MerchantId, id: string): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await findEndpointLocked(tx, merchantId, id) : null;
  if (!endpoint) throw notFound('endpoint');
  return endpoint;
}

function settingsOf({ url, description, eventTypes, state }: Endpoint): object {
  return { url, description, event_types: eventTypes, state };
}

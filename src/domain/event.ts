// Events: what merchants are told, as bytes that are made once and never again.
import { collectionObject, isLateSuccess, type Collection, type CollectionState } from './payments/collection.ts';
import { DomainError } from './errors.ts';
import type { CollectionId, EndpointId, EventId, PayoutId } from './ids.ts';
import { payoutObject, type Payout, type PayoutState } from './payments/payout.ts';

export const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

type ReportedCollectionState = Exclude<CollectionState, 'initiated'>;
export type PaymentEventType = `collection.${ReportedCollectionState}` | `payout.${PayoutState}`;
export type EventType = PaymentEventType | 'endpoint.test';

/** What an endpoint may choose among. */
export const PAYMENT_EVENT_TYPES: readonly PaymentEventType[] = [
  'collection.prompted',
  'collection.succeeded',
  'collection.failed',
  'collection.expired',
  'collection.reconciling',
  'collection.reversed',
  'payout.queued',
  'payout.released',
  'payout.succeeded',
  'payout.failed',
  'payout.reconciling',
  'payout.rejected',
  'payout.cancelled',
  'payout.expired',
  'payout.reversed',
];

/** A test event goes to the endpoint that it tests, whatever that chose: so it is nobody's choice. */
export const EVENT_TYPES: readonly EventType[] = [...PAYMENT_EVENT_TYPES, 'endpoint.test'];

/** An event as it is listed. */
export type ListedEvent = {
  readonly id: EventId;
  readonly type: EventType;
  /** What it tells of. */
  readonly objectId: CollectionId | PayoutId | EndpointId;
  readonly createdAt: Date;
};

type NewEvent = { readonly id: EventId; readonly at: Date; readonly environment: Environment };
type EventContent = { readonly type: EventType; readonly body: string };

/** The event that tells of the collection's present state, with its body as every attempt and replay will send it. */
export function collectionEvent(collection: Collection, event: NewEvent): EventContent {
  if (collection.state === 'initiated') throw new Error('a collection as it was made has no event');
  return told(`collection.${collection.state}`, event, {
    object: collectionObject(collection),
    previous_state: collection.previousState,
    ...(isLateSuccess(collection) ? { late: true } : {}),
  });
}

/** The event that tells of the payout's present state; the first tells that it waits for its release. */
export function payoutEvent(payout: Payout, event: NewEvent): EventContent {
  return told(`payout.${payout.state}`, event, { object: payoutObject(payout), previous_state: payout.previousState });
}

/** The event by which an endpoint is tested; `shown` is the endpoint as its people see it. */
export function endpointTestEvent(shown: object, event: NewEvent): EventContent {
  return told('endpoint.test', event, { object: shown });
}

/** The same for an unknown id and for another merchant's. */
export function eventNotFound(): DomainError {
  return new DomainError('event_not_found', 'There is no event with this id. Look it up in the list of events.');
}

function told(type: EventType, { id, at, environment }: NewEvent, data: object): EventContent {
  return { type, body: JSON.stringify({ id, type, created_at: at.toISOString(), environment, data }) };
}

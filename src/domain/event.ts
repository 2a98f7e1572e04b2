// Events, the reports of webhooks. The body is built once: every attempt and replay sends the same bytes.
import { collectionObject, isLateOutcome, type Collection, type CollectionState } from './payments/collection.ts';
import type { CollectionId, EndpointId, EventId, PayoutId } from './ids.ts';
import { payoutObject, type Payout, type PayoutState } from './payments/payout.ts';

export const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

type ReportedCollectionState = Exclude<CollectionState, 'initiated'>;
export type PaymentEventType = `collection.${ReportedCollectionState}` | `payout.${PayoutState}`;
export type EventType = PaymentEventType | 'endpoint.test';

/** The event types that an endpoint can subscribe to. */
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

/** All types. No endpoint subscribes to `endpoint.test`: it always goes to the endpoint under test. */
export const EVENT_TYPES: readonly EventType[] = [...PAYMENT_EVENT_TYPES, 'endpoint.test'];

export type ListedEvent = {
  readonly id: EventId;
  readonly type: EventType;
  readonly objectId: CollectionId | PayoutId | EndpointId;
  readonly createdAt: Date;
};

type NewEvent = { readonly id: EventId; readonly at: Date; readonly environment: Environment };
type EventContent = { readonly type: EventType; readonly body: string };

/**
 * The event that reports the payment's current state, with the body of every attempt and replay. The first event of a
 * payout, `payout.queued`, reports that it waits for release.
 */
export function paymentEvent(payment: Collection | Payout, event: NewEvent): EventContent {
  const { previousState: previous_state } = payment;
  if (payment.kind === 'payout')
    return toContent(`payout.${payment.state}`, event, { object: payoutObject(payment), previous_state });
  if (payment.state === 'initiated') throw new Error('an initiated collection has no event');
  return toContent(`collection.${payment.state}`, event, {
    object: collectionObject(payment),
    previous_state,
    ...(isLateOutcome(payment) && { late: true }),
  });
}

/** The event that tests an endpoint; `shown` is the endpoint as the API shows it. */
export function endpointTestEvent(shown: object, event: NewEvent): EventContent {
  return toContent('endpoint.test', event, { object: shown });
}

function toContent(type: EventType, { id, at, environment }: NewEvent, data: object): EventContent {
  return { type, body: JSON.stringify({ id, type, created_at: at.toISOString(), environment, data }) };
}

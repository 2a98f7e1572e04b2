// The types of events and the states of deliveries, in words. A type that the API gains and these lack breaks the build.
import type { Schemas } from '../api/client.ts';

export type PaymentEventType = Schemas['PaymentEventType'];
type EventType = Schemas['EventType'];
type DeliveryState = Schemas['DeliveryState'];
export type ReplayableState = Schemas['Replay']['states'][number];

const PAYMENT_EVENT_WORDS: Readonly<Record<PaymentEventType, string>> = {
  'collection.prompted': 'The payer’s phone shows the prompt',
  'collection.succeeded': 'The payer paid',
  'collection.failed': 'The payer did not pay',
  'collection.expired': 'The outcome is unknown, and nothing waits for it any longer',
  'collection.reconciling': 'Its outcome is overdue',
  'collection.reversed': 'The money went back to the payer',
  'payout.queued': 'It waits for its release',
  'payout.released': 'It is released',
  'payout.succeeded': 'The payee has the money',
  'payout.failed': 'The payee did not get the money',
  'payout.reconciling': 'Its outcome is overdue',
  'payout.rejected': 'An approver rejected it',
  'payout.cancelled': 'Its maker cancelled it',
  'payout.expired': 'Nobody released it in time',
  'payout.reversed': 'The money came back',
};

export const EVENT_WORDS: Readonly<Record<EventType, string>> = {
  ...PAYMENT_EVENT_WORDS,
  'endpoint.test': 'Somebody tested an endpoint',
};

export const PAYMENT_EVENT_TYPES = Object.keys(PAYMENT_EVENT_WORDS) as PaymentEventType[];
export const EVENT_TYPES = Object.keys(EVENT_WORDS) as EventType[];

export const DELIVERY_STATE_WORDS: Readonly<Record<DeliveryState, string>> = {
  pending: 'It will be sent now.',
  retrying: 'The last attempt failed; it will be sent again.',
  delivered: 'The endpoint accepted it.',
  dead_lettered: 'The endpoint never accepted it. It is sent again only if somebody replays it.',
  withheld: 'Its endpoint is disabled or deleted. It is sent once somebody enables the endpoint and then replays it.',
};

export const DELIVERY_STATES = Object.keys(DELIVERY_STATE_WORDS) as DeliveryState[];
export const REPLAYABLE_STATES: readonly ReplayableState[] = ['dead_lettered', 'withheld', 'delivered'];

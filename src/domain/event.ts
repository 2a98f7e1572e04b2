// Events: what merchants are told, as bytes that are made once and never again.
import { collectionObject, isLateSuccess, type Collection, type CollectionState } from './collection.ts';
import type { EventId } from './ids.ts';
import { payoutObject, type Payout, type PayoutState } from './payout.ts';

export const ENVIRONMENTS = ['test', 'live'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

type ToldCollectionState = Exclude<CollectionState, 'initiated'>;
export type EventType = `collection.${ToldCollectionState}` | `payout.${PayoutState}`;

export const EVENT_TYPES: readonly EventType[] = [
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

type NewEvent = { readonly id: EventId; readonly at: Date; readonly environment: Environment };
type Told = { readonly type: EventType; readonly body: string };

/** The event that tells of the collection's present state, with its body as every attempt and replay will send it. */
export function collectionEvent(collection: Collection, event: NewEvent): Told {
  if (collection.state === 'initiated') throw new Error('a collection as it was made has no event');
  return told(`collection.${collection.state}`, event, {
    object: collectionObject(collection),
    previous_state: collection.previousState,
    ...(isLateSuccess(collection) ? { late: true } : {}),
  });
}

/** The event that tells of the payout's present state; the first tells that it waits for its release. */
export function payoutEvent(payout: Payout, event: NewEvent): Told {
  return told(`payout.${payout.state}`, event, { object: payoutObject(payout), previous_state: payout.previousState });
}

function told(type: EventType, { id, at, environment }: NewEvent, data: object): Told {
  return { type, body: JSON.stringify({ id, type, created_at: at.toISOString(), environment, data }) };
}

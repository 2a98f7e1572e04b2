// Events: what merchants are told, as bytes that are made once and never again.
import { collectionObject, isLateSuccess, type Collection, type CollectionState } from './collection.ts';
import type { EventId } from './ids.ts';

export type Environment = 'test' | 'live';

type ToldCollectionState = Exclude<CollectionState, 'initiated'>;
export type EventType = `collection.${ToldCollectionState}`;

export const EVENT_TYPES: readonly EventType[] = [
  'collection.prompted',
  'collection.succeeded',
  'collection.failed',
  'collection.expired',
  'collection.reconciling',
  'collection.reversed',
];

/** The event that tells of the collection's present state, with its body as every attempt and replay will send it. */
export function collectionEvent(
  collection: Collection,
  event: { id: EventId; at: Date; environment: Environment },
): { type: EventType; body: string } {
  if (collection.state === 'initiated') throw new Error('a collection as it was made has no event');
  const type: EventType = `collection.${collection.state}`;
  const body = JSON.stringify({
    id: event.id,
    type,
    created_at: event.at.toISOString(),
    environment: event.environment,
    data: {
      object: collectionObject(collection),
      previous_state: collection.previousState,
      ...(isLateSuccess(collection) ? { late: true } : {}),
    },
  });
  return { type, body };
}

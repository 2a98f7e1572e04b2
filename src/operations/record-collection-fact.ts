// Records what happened to a collection: its state, the money, the event and what it owes to webhooks, all or nothing.
import { recordCollectionChange } from '../db/collection-change.ts';
import { findCollection } from '../db/collection.ts';
import type { Database } from '../db/database.ts';
import type { Collection, CollectionState } from '../domain/collection.ts';
import { changeCollection, type ChangeTimings, type CollectionChange } from '../domain/collection-change.ts';
import type { RecordableFact } from '../domain/collection-progress.ts';
import { newDeliveryIds } from '../domain/endpoint.ts';
import { DomainError } from '../domain/errors.ts';
import { collectionEvent, type Environment } from '../domain/event.ts';
import { newId, type CollectionId, type MerchantId } from '../domain/ids.ts';
import { posting, type PostingKind } from '../domain/ledger.ts';

export type RecordCollectionFact = {
  readonly merchantId: MerchantId;
  readonly collectionId: CollectionId;
  readonly fact: RecordableFact;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly at: Date;
};

const POSTING_OF_STATE: Readonly<Partial<Record<CollectionState, PostingKind>>> = {
  succeeded: 'collection_paid',
  reversed: 'collection_reversed',
};

/** Each miss means that somebody else moved the collection, and it can move only a few times in all. */
const MAX_TRIES = 10;

/**
 * The collection as it then is. A fact that leads nowhere from its state changes nothing, which is what a repeat, a late
 * or a contradicting fact does. Throws `collection_not_found`.
 */
export async function recordCollectionFact(db: Database, input: RecordCollectionFact): Promise<Collection> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const before = await findCollection(db, input.merchantId, input.collectionId);
    if (before === null) throw new DomainError('collection_not_found', 'There is no collection with this id.');
    const change = changeCollection(before, input.fact, input.at, input.timings);
    if (change === null) return before;
    if (await record(db, change, input)) return change.after;
  }
  throw new Error(`collection ${input.collectionId} changed ${MAX_TRIES} times while one fact was being recorded`);
}

async function record(db: Database, change: CollectionChange, { environment, at }: RecordCollectionFact) {
  const { after } = change;
  const id = newId('evt', at.getTime());
  const kind = POSTING_OF_STATE[after.state];
  return recordCollectionChange(db, change, {
    posting: kind === undefined ? null : posting(kind, after),
    event: { id, ...collectionEvent(after, { id, at, environment }) },
    deliveryIds: newDeliveryIds(at),
    at,
  });
}

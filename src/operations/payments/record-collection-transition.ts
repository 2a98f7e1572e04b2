// Records what happened to a collection: its state, the money, the event and what it owes to webhooks, all or nothing.
import { recordCollectionChange } from '../../db/payments/collection-change.ts';
import { findCollection } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { changeCollection, type ChangeTimings } from '../../domain/payments/collection-change.ts';
import type { CollectionTransitionInput } from '../../domain/payments/collection-progress.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { CollectionId, MerchantId } from '../../domain/ids.ts';

export type RecordCollectionTransition = {
  readonly merchantId: MerchantId;
  readonly collectionId: CollectionId;
  readonly transition: CollectionTransitionInput;
  readonly environment: Environment;
  readonly timings: ChangeTimings;
  readonly at: Date;
};

/** Each miss means that somebody else moved the collection, and it can move only a few times in all. */
const MAX_TRIES = 10;

/**
 * The collection as it then is. A fact that leads nowhere from its state changes nothing, which is what a repeat, a late
 * or a contradicting fact does. Throws `collection_not_found`.
 */
export async function recordCollectionTransition(db: Database, input: RecordCollectionTransition): Promise<Collection> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const before = await findCollection(db, input.merchantId, input.collectionId);
    if (before === null) throw new DomainError('collection_not_found', 'There is no collection with this id.');
    const change = changeCollection(before, input.transition, input.at, input.timings);
    if (change === null) return before;
    if (await recordCollectionChange(db, change, input.environment)) return change.after;
  }
  throw new Error(`collection ${input.collectionId} changed ${MAX_TRIES} times while one fact was being recorded`);
}

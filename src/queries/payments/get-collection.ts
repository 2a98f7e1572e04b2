// Reads one collection of a merchant.
import { findCollection } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';

/** Throws `collection_not_found` for an unknown id, and in the same words for another merchant's. */
export async function getCollection(db: Database, merchantId: MerchantId, id: string): Promise<Collection> {
  const collection = isId('col', id) ? await findCollection(db, merchantId, id) : null;
  if (collection) return collection;
  throw new DomainError(
    'collection_not_found',
    'There is no collection with this id. Check the id and the key you use.',
  );
}

// Reads a reversal by its id, and the latest reversal of a collection.
import { findCollection } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import { findLatestReversal, findReversal } from '../../db/payments/reversal.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId, type ReversalId } from '../../domain/ids.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';

/** Throws `reversal_not_found`: the id always comes from our own records, so that is a bug. */
export async function getReversal(db: Database, merchantId: MerchantId, id: ReversalId): Promise<Reversal> {
  const reversal = await findReversal(db, merchantId, id);
  if (reversal) return reversal;
  throw new DomainError('reversal_not_found', 'There is no such reversal.');
}

/** Throws `collection_not_found`, and `reversal_not_found` for a collection that nobody asked to reverse. */
export async function getLatestReversal(db: Database, merchantId: MerchantId, collectionId: string): Promise<Reversal> {
  const collection = isId('col', collectionId) ? await findCollection(db, merchantId, collectionId) : null;
  if (!collection) throw new DomainError('collection_not_found', 'There is no collection with this id.');
  const reversal = await findLatestReversal(db, merchantId, collection.id);
  if (reversal) return reversal;
  throw new DomainError('reversal_not_found', 'Nobody asked to reverse this collection.');
}

// Reads reversals: by id, in pages, and the latest reversal of a collection.
import { findCollection } from '../../db/payments/collection.ts';
import type { Database } from '../../db/database.ts';
import {
  findLatestReversal,
  findReversal,
  listReversals as listRows,
  type ReversalFilter,
} from '../../db/payments/reversal.ts';
import { readPage, type Page } from '../../db/page.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';

/** Throws `reversal_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export async function getReversal(db: Database, merchantId: MerchantId, id: string): Promise<Reversal> {
  const reversal = isId('rev', id) ? await findReversal(db, merchantId, id) : null;
  if (reversal) return reversal;
  throw new DomainError('reversal_not_found', 'There is no reversal with this id.');
}

/** The newest reversals that pass the filter, at most `limit`. */
export async function listReversals(
  db: Database,
  merchantId: MerchantId,
  filter: ReversalFilter,
  limit: number,
): Promise<Page<Reversal>> {
  return readPage(limit, (count) => listRows(db, merchantId, filter, count));
}

/** Throws `collection_not_found`, and `reversal_not_found` for a collection that nobody asked to reverse. */
export async function getLatestReversal(db: Database, merchantId: MerchantId, collectionId: string): Promise<Reversal> {
  const collection = isId('col', collectionId) ? await findCollection(db, merchantId, collectionId) : null;
  if (!collection) throw new DomainError('collection_not_found', 'There is no collection with this id.');
  const reversal = await findLatestReversal(db, merchantId, collection.id);
  if (reversal) return reversal;
  throw new DomainError('reversal_not_found', 'Nobody asked to reverse this collection.');
}

// Reads the collections of a merchant.
import {
  findCollection,
  listCollections as listRows,
  pageCollections as pageRows,
  type CollectionFilter,
} from '../../db/payments/collection.ts';
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { ListedPage, ListRequest } from '../../domain/payments/payment-list.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';

/** Throws `collection_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export async function getCollection(db: Database, merchantId: MerchantId, id: string): Promise<Collection> {
  const collection = isId('col', id) ? await findCollection(db, merchantId, id) : null;
  if (collection) return collection;
  throw new DomainError(
    'collection_not_found',
    'There is no collection with this id. Check the id and the key you use.',
  );
}

/** The newest collections that pass the filter, at most `limit`. */
export async function listCollections(
  db: Database,
  merchantId: MerchantId,
  filter: CollectionFilter,
  limit: number,
): Promise<Page<Collection>> {
  return readPage(limit, (count) => listRows(db, merchantId, filter, count));
}

/** One page by any combination of filters; `listPage` says when it has fewer than it could. */
export async function pageCollections(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<Collection>> {
  return pageRows(db, merchantId, request);
}

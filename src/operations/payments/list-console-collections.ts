// Reads collections for a merchant's people: with the names of whoever created them.
import { findNames, type KnownKey } from '../../db/accounts/names.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import { findCheckoutIds } from '../../db/payments/checkout-attempt.ts';
import { pageCollections } from '../../db/payments/collection.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { CheckoutId, MerchantId } from '../../domain/ids.ts';
import type { Collection } from '../../domain/payments/collection.ts';
import type { ListedPage, ListRequest } from '../../domain/payments/payment-list.ts';

export type ConsoleCollection = {
  readonly collection: Collection;
  readonly createdBy: KnownPerson | null;
  readonly apiKey: KnownKey | null;
  /** At which a payer made it. */
  readonly checkoutId: CheckoutId | null;
};

/** One page; `listPage` says when it has fewer than it could. */
export async function listConsoleCollections(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<ConsoleCollection>> {
  const { items, next } = await pageCollections(db, merchantId, request);
  return { items: await withNames(db, merchantId, items), next };
}

async function withNames(
  db: Queryable,
  merchantId: MerchantId,
  collections: readonly Collection[],
): Promise<ConsoleCollection[]> {
  const people = collections.map(({ createdBy }) => createdBy);
  const keys = collections.map(({ apiKeyId }) => apiKeyId);
  const names = await findNames(db, merchantId, people, keys);
  const checkouts = await findCheckoutIds(
    db,
    collections.map(({ id }) => id),
  );
  return collections.map((collection) => ({
    collection,
    createdBy: collection.createdBy && names.person(collection.createdBy),
    apiKey: collection.apiKeyId && names.key(collection.apiKeyId),
    checkoutId: checkouts.get(collection.id) ?? null,
  }));
}

// Reads reversals: by id, in pages, and the latest reversal of a collection.
import { findCollection } from '../../db/payments/collection.ts';
import { findNames, type Names } from '../../db/accounts/named-people.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import {
  findLatestReversal,
  findReversal,
  listReversals as listRows,
  type ReversalFilter,
} from '../../db/payments/reversal.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { DomainError } from '../../domain/errors.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';

/** Throws `reversal_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export async function getReversal(db: Database, merchantId: MerchantId, id: string): Promise<Reversal> {
  const reversal = isId('rev', id) ? await findReversal(db, merchantId, id) : null;
  if (reversal) return reversal;
  throw new DomainError('reversal_not_found', 'There is no reversal with this id.');
}

/** A reversal with the people that it names. */
export type NamedReversal = {
  readonly reversal: Reversal;
  readonly requestedBy: KnownPerson;
  /** Oldest first. */
  readonly approvals: readonly { readonly person: KnownPerson; readonly approvedAt: Date }[];
  readonly decidedBy: KnownPerson | null;
};

/** Throws `reversal_not_found`. */
export async function getNamedReversal(db: Database, merchantId: MerchantId, id: string): Promise<NamedReversal> {
  return withNames(db, merchantId, await getReversal(db, merchantId, id));
}

/** The newest reversals that pass the filter, at most `limit`. */
export async function listNamedReversals(
  db: Database,
  merchantId: MerchantId,
  filter: ReversalFilter,
  limit: number,
): Promise<Page<NamedReversal & { readonly id: Reversal['id'] }>> {
  const { items, nextBefore } = await readPage(limit, (count) => listRows(db, merchantId, filter, count));
  const names = await namesOf(db, merchantId, items);
  return { items: items.map((reversal) => ({ id: reversal.id, ...named(reversal, names) })), nextBefore };
}

/** Throws `collection_not_found`, and `reversal_not_found` for a collection that nobody asked to reverse. */
export async function getLatestReversal(
  db: Database,
  merchantId: MerchantId,
  collectionId: string,
): Promise<NamedReversal> {
  const collection = isId('col', collectionId) ? await findCollection(db, merchantId, collectionId) : null;
  if (!collection) throw new DomainError('collection_not_found', 'There is no collection with this id.');
  const reversal = await findLatestReversal(db, merchantId, collection.id);
  if (reversal) return withNames(db, merchantId, reversal);
  throw new DomainError('reversal_not_found', 'Nobody has requested a reversal of this collection.');
}

async function withNames(db: Queryable, merchantId: MerchantId, reversal: Reversal): Promise<NamedReversal> {
  return named(reversal, await namesOf(db, merchantId, [reversal]));
}

function namesOf(db: Queryable, merchantId: MerchantId, reversals: readonly Reversal[]): Promise<Names> {
  const people = reversals.flatMap(({ createdBy, decidedBy, approvals }) => [
    createdBy,
    decidedBy,
    ...approvals.map(({ userId }) => userId),
  ]);
  return findNames(db, merchantId, people, []);
}

function named(reversal: Reversal, names: Names): NamedReversal {
  return {
    reversal,
    requestedBy: names.person(reversal.createdBy),
    approvals: reversal.approvals.map(({ userId, approvedAt }) => ({ person: names.person(userId), approvedAt })),
    decidedBy: reversal.decidedBy && names.person(reversal.decidedBy),
  };
}

// Reads reversals: by id, in pages, and the latest reversal of a collection.
import { getCollection } from '../../db/payments/collection.ts';
import { findNames, type Names } from '../../db/accounts/names.ts';
import type { Database, Queryable } from '../../db/platform/database.ts';
import { findLatestReversal, getReversal, listReversals, type ReversalFilter } from '../../db/payments/reversal.ts';
import { findStatusQueries, type StatusQueries } from '../../db/work/status-queries.ts';
import type { Page } from '../../db/platform/page.ts';
import { DomainError } from '../../domain/errors.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';

export type ConsoleReversal = {
  readonly reversal: Reversal;
  readonly requestedBy: KnownPerson;
  /** Oldest first. */
  readonly approvals: readonly { readonly person: KnownPerson; readonly approvedAt: Date }[];
  readonly decidedBy: KnownPerson | null;
};

/** Throws `reversal_not_found`. */
export async function getConsoleReversal(
  db: Database,
  merchantId: MerchantId,
  id: string,
): Promise<ConsoleReversal & { readonly statusQueries: StatusQueries | null }> {
  const reversal = await getReversal(db, merchantId, id);
  const statusQueries = await findStatusQueries(db, reversal.id);
  return { ...(await withNames(db, merchantId, reversal)), statusQueries };
}

/** The newest reversals that pass the filter, at most `limit`. */
export async function listConsoleReversals(
  db: Database,
  merchantId: MerchantId,
  filter: ReversalFilter,
  limit: number,
): Promise<Page<ConsoleReversal & { readonly id: Reversal['id'] }>> {
  const { items, nextBefore } = await listReversals(db, merchantId, filter, limit);
  const names = await namesOf(db, merchantId, items);
  return { items: items.map((reversal) => ({ id: reversal.id, ...toConsoleReversal(reversal, names) })), nextBefore };
}

/** Throws `collection_not_found`, and `reversal_not_found` for a collection that nobody asked to reverse. */
export async function getLatestReversal(
  db: Database,
  merchantId: MerchantId,
  collectionId: string,
): Promise<ConsoleReversal> {
  const collection = await getCollection(db, merchantId, collectionId);
  const reversal = await findLatestReversal(db, merchantId, collection.id);
  if (reversal) return withNames(db, merchantId, reversal);
  throw new DomainError('reversal_not_found', 'Nobody has requested a reversal of this collection.');
}

async function withNames(db: Queryable, merchantId: MerchantId, reversal: Reversal): Promise<ConsoleReversal> {
  return toConsoleReversal(reversal, await namesOf(db, merchantId, [reversal]));
}

function namesOf(db: Queryable, merchantId: MerchantId, reversals: readonly Reversal[]): Promise<Names> {
  const people = reversals.flatMap(({ createdBy, decidedBy, approvals }) => [
    createdBy,
    decidedBy,
    ...approvals.map(({ userId }) => userId),
  ]);
  return findNames(db, merchantId, people, []);
}

function toConsoleReversal(reversal: Reversal, names: Names): ConsoleReversal {
  return {
    reversal,
    requestedBy: names.person(reversal.createdBy),
    approvals: reversal.approvals.map(({ userId, approvedAt }) => ({ person: names.person(userId), approvedAt })),
    decidedBy: reversal.decidedBy && names.person(reversal.decidedBy),
  };
}

// Reads the payouts of a merchant.
import { findNames } from '../../db/accounts/named-people.ts';
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { findPayout, listPayouts as listRows, pagePayouts, type PayoutFilter } from '../../db/payments/payout.ts';
import type { KnownPerson } from '../../domain/accounts/member.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { ListedPage, ListRequest } from '../../domain/payments/payment-list.ts';
import type { Payout } from '../../domain/payments/payout.ts';

/** Throws `payout_not_found` for an unknown id and, in the same words, for the id of another merchant. */
export async function getPayout(db: Database, merchantId: MerchantId, id: string): Promise<Payout> {
  const payout = isId('pay', id) ? await findPayout(db, merchantId, id) : null;
  if (payout) return payout;
  throw new DomainError('payout_not_found', 'There is no payout with this id. Check the id and the key you use.');
}

/** The newest payouts that pass the filter, at most `limit`. */
export async function listPayouts(
  db: Database,
  merchantId: MerchantId,
  filter: PayoutFilter,
  limit: number,
): Promise<Page<Payout>> {
  return readPage(limit, (count) => listRows(db, merchantId, filter, count));
}

/** A payout, who made it, and who approved it, oldest approval first. */
export type PayoutWithPeople = Payout & { readonly maker: KnownPerson; readonly approvers: readonly KnownPerson[] };

/** One page by any combination of filters, each with its people by name; `listPage` says when it has fewer than it could. */
export async function pagePayoutsWithPeople(
  db: Database,
  merchantId: MerchantId,
  request: ListRequest,
): Promise<ListedPage<PayoutWithPeople>> {
  const { items, next } = await pagePayouts(db, merchantId, request);
  const people = items.flatMap(({ createdBy, approvals }) => [createdBy, ...approvals.map(({ userId }) => userId)]);
  const names = await findNames(db, merchantId, people, []);
  return {
    items: items.map((payout) => ({
      ...payout,
      maker: names.person(payout.createdBy),
      approvers: payout.approvals.map(({ userId }) => names.person(userId)),
    })),
    next,
  };
}

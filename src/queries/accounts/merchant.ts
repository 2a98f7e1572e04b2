// The merchants of the service, for its staff.
import { listMerchants as list, type ListedMerchant } from '../../db/accounts/merchant.ts';
import type { Queryable } from '../../db/database.ts';

/** Those whose name contains the text, in the order in which they were made, after the one of this id; at most `limit`. */
export function listMerchants(
  db: Queryable,
  after: string,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<ListedMerchant[]> {
  return list(db, { after, name, limit });
}

export type { ListedMerchant };

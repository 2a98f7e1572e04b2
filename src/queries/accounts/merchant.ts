// The merchants of the service, for its staff.
import { listMerchants as list, type ListedMerchant } from '../../db/accounts/merchant.ts';
import type { Queryable } from '../../db/platform/database.ts';

const PAGE = 200;

/** Those whose name contains the text, in the order in which they were made, after the one of this id; at most `limit`. */
export function listMerchants(
  db: Queryable,
  after: string,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<ListedMerchant[]> {
  return list(db, { after, name, limit });
}

/** All of them, in the order in which they were made, read page by page. */
export async function* allMerchants(db: Queryable): AsyncGenerator<ListedMerchant> {
  for (let after = ''; ;) {
    const page = await list(db, { after, name: '', limit: PAGE });
    yield* page;
    after = page.at(-1)?.id ?? '';
    if (page.length < PAGE) return;
  }
}

export type { ListedMerchant };

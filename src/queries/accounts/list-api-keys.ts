// Lists a merchant's API keys, newest first.
import { listApiKeys as listRows } from '../../db/accounts/api-key.ts';
import type { Database } from '../../db/database.ts';
import type { ListedApiKey } from '../../domain/accounts/api-key.ts';
import type { ApiKeyId, MerchantId } from '../../domain/ids.ts';

export type ApiKeyPage = { readonly items: readonly ListedApiKey[]; readonly nextBefore: ApiKeyId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Stable while new ones are made. */
export async function listApiKeys(
  db: Database,
  merchantId: MerchantId,
  before: ApiKeyId | null,
  limit: number,
): Promise<ApiKeyPage> {
  const rows = await listRows(db, merchantId, before, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

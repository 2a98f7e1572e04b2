// Reads the API keys of a merchant as its people see them.
import { findApiKey, listApiKeys as listRows } from '../../db/accounts/api-key.ts';
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { apiKeyNotFound, type ListedApiKey } from '../../domain/accounts/api-key.ts';
import type { ApiKeyId, MerchantId } from '../../domain/ids.ts';

/** Throws `api_key_not_found`. */
export async function getApiKey(db: Database, merchantId: MerchantId, id: ApiKeyId): Promise<ListedApiKey> {
  const key = await findApiKey(db, merchantId, id);
  if (!key) throw apiKeyNotFound();
  return key;
}

/** The newest keys created before `before` (null: the newest of all), at most `limit`. */
export async function listApiKeys(
  db: Database,
  merchantId: MerchantId,
  before: ApiKeyId | null,
  limit: number,
): Promise<Page<ListedApiKey>> {
  return readPage(limit, (count) => listRows(db, merchantId, before, count));
}

// Reads one API key as its merchant's people see it.
import { findApiKey } from '../../db/accounts/api-key.ts';
import type { Database } from '../../db/database.ts';
import { apiKeyNotFound, type ListedApiKey } from '../../domain/accounts/api-key.ts';
import type { ApiKeyId, MerchantId } from '../../domain/ids.ts';

/** Throws `api_key_not_found`. */
export async function getApiKey(db: Database, merchantId: MerchantId, id: ApiKeyId): Promise<ListedApiKey> {
  const key = await findApiKey(db, merchantId, id);
  if (!key) throw apiKeyNotFound();
  return key;
}

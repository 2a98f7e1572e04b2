// Records requests of API keys in the request log.
import { insertApiRequests } from '../../db/accounts/api-request.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ApiRequest } from '../../domain/accounts/api-request.ts';

/** Records all of them or none. A repeat changes nothing. */
export async function recordApiRequests(db: Database, requests: readonly ApiRequest[]): Promise<void> {
  await insertApiRequests(db, requests);
}

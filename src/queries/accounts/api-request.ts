// Reads the request log of a merchant.
import { findApiRequest, listApiRequests as listRows, type ApiRequestFilter } from '../../db/accounts/api-request.ts';
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { requestNotFound, type ListedApiRequest } from '../../domain/accounts/api-request.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';

/** The newest requests that pass the filter, at most `limit`. */
export async function listApiRequests(
  db: Database,
  merchantId: MerchantId,
  filter: ApiRequestFilter,
  limit: number,
): Promise<Page<ListedApiRequest>> {
  return readPage(limit, (count) => listRows(db, merchantId, filter, count));
}

/** Throws `request_not_found`. */
export async function getApiRequest(db: Database, merchantId: MerchantId, id: string): Promise<ListedApiRequest> {
  const request = isId('req', id) ? await findApiRequest(db, merchantId, id) : null;
  if (!request) throw requestNotFound();
  return request;
}

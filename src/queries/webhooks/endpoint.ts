// Reads the webhook endpoints of a merchant.
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { findEndpoint, listEndpoints as listRows } from '../../db/webhooks/endpoint.ts';
import { endpointNotFound, type Endpoint } from '../../domain/webhooks/endpoint.ts';
import { isId, type EndpointId, type MerchantId } from '../../domain/ids.ts';

/** Throws `endpoint_not_found`. */
export async function getEndpoint(db: Database, merchantId: MerchantId, id: string): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await findEndpoint(db, merchantId, id) : null;
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/**
 * The newest endpoints created before `before` (null: the newest of all), at most `limit`, without the deleted ones.
 */
export async function listEndpoints(
  db: Database,
  merchantId: MerchantId,
  before: EndpointId | null,
  limit: number,
): Promise<Page<Endpoint>> {
  return readPage(limit, (count) => listRows(db, merchantId, before, count));
}

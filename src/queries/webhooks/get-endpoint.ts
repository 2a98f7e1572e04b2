// Reads one endpoint.
import type { Database } from '../../db/database.ts';
import { findEndpoint } from '../../db/webhooks/endpoint.ts';
import { endpointNotFound, type Endpoint } from '../../domain/webhooks/endpoint.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';

/** Throws `endpoint_not_found`. */
export async function getEndpoint(db: Database, merchantId: MerchantId, id: string): Promise<Endpoint> {
  const endpoint = isId('whe', id) ? await findEndpoint(db, merchantId, id) : null;
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

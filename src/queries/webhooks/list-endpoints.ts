// Lists a merchant's endpoints, newest first.
import type { Database } from '../../db/database.ts';
import { listEndpoints as listRows } from '../../db/webhooks/endpoint.ts';
import type { Endpoint } from '../../domain/webhooks/endpoint.ts';
import type { EndpointId, MerchantId } from '../../domain/ids.ts';

export type EndpointPage = { readonly items: readonly Endpoint[]; readonly nextBefore: EndpointId | null };

/** One page of at most `limit`, and where the next one begins (null: there is none). Those deleted are not in it. */
export async function listEndpoints(
  db: Database,
  merchantId: MerchantId,
  before: EndpointId | null,
  limit: number,
): Promise<EndpointPage> {
  const rows = await listRows(db, merchantId, before, limit + 1);
  const items = rows.slice(0, limit);
  return { items, nextBefore: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

// Disables all endpoints of a merchant.
import type { Database } from '../db/database.ts';
import { disableEndpointsOf } from '../db/endpoint.ts';
import type { MerchantId } from '../domain/ids.ts';

/** They get no new deliveries; what is owed to them already is still tried. Repeating it changes nothing. */
export async function retireEndpoints(db: Database, merchantId: MerchantId, reason: string): Promise<void> {
  await disableEndpointsOf(db, merchantId, reason);
}

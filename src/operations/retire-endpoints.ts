// Disables all endpoints of a merchant.
import type { Database } from '../db/database.ts';
import { disableEndpointsOf } from '../db/endpoint.ts';
import type { MerchantId } from '../domain/ids.ts';

/** Nothing more is sent to them. Repeating it changes nothing. */
export async function retireEndpoints(db: Database, merchantId: MerchantId, at: Date): Promise<void> {
  await disableEndpointsOf(db, merchantId, at);
}

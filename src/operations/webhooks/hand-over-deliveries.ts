// Leaves pending deliveries of endpoints that fail to workflows.
import type { Database } from '../../db/database.ts';
import { handOverDeliveries as handOverRows } from '../../db/webhooks/delivery.ts';

/** At most `limit`, of each endpoint in turn; resolves to how many. */
export async function handOverDeliveries(db: Database, limit: number): Promise<number> {
  return handOverRows(db, limit);
}

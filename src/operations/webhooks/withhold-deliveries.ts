// Takes what is owed to disabled endpoints off the schedule.
import type { Database } from '../../db/database.ts';
import { withholdDeliveries as withholdRows } from '../../db/webhooks/delivery.ts';

/** At most `limit`; resolves to how many. They wait until somebody replays them. */
export async function withholdDeliveries(db: Database, limit: number, at: Date): Promise<number> {
  return withholdRows(db, limit, at);
}

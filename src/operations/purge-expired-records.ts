// Removes records whose time is over: idempotency keys and operators' raw callbacks.
import type { Database } from '../db/database.ts';
import { deleteIdempotencyKeys } from '../db/idempotency-key.ts';
import { deleteOperatorCallbacks } from '../db/operator-callback.ts';

export type PurgeExpiredRecords = {
  readonly idempotencyKeysBefore: Date;
  readonly callbacksBefore: Date;
  readonly limit: number;
};

/** At most `limit` of each; call again while something was removed. */
export async function purgeExpiredRecords(db: Database, input: PurgeExpiredRecords): Promise<number> {
  return db.withTransaction(async (tx) => {
    const keys = await deleteIdempotencyKeys(tx, input.idempotencyKeysBefore, input.limit);
    const callbacks = await deleteOperatorCallbacks(tx, input.callbacksBefore, input.limit);
    return keys + callbacks;
  });
}

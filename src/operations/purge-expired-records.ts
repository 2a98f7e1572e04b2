// Deletes expired records: idempotency keys, operator callbacks, sessions, recoveries, attempt counters, old secrets.
import type { Database } from '../db/database.ts';
import { eraseEndedSecrets } from '../db/webhooks/endpoint.ts';
import { deleteIdempotencyKeys } from '../db/payments/idempotency-key.ts';
import { deleteOperatorCallbacks } from '../db/payments/operator-callback.ts';
import { deleteEndedCounters } from '../db/accounts/attempt-counter.ts';
import { deleteEndedRecoveries } from '../db/accounts/recovery.ts';
import { deleteEndedSessions } from '../db/accounts/session.ts';

export type PurgeExpiredRecords = {
  readonly idempotencyKeysBefore: Date;
  readonly callbacksBefore: Date;
  /** For sessions, recoveries, attempt counters and the previous secrets of endpoints: those that ended before. */
  readonly endedBefore: Date;
  readonly limit: number;
};

/** Deletes at most `limit` records of each kind; returns how many. Call it again until it returns 0. */
export async function purgeExpiredRecords(db: Database, input: PurgeExpiredRecords): Promise<number> {
  return db.withTransaction(async (tx) => {
    const keys = await deleteIdempotencyKeys(tx, input.idempotencyKeysBefore, input.limit);
    const callbacks = await deleteOperatorCallbacks(tx, input.callbacksBefore, input.limit);
    const sessions = await deleteEndedSessions(tx, input.endedBefore, input.limit);
    const counters = await deleteEndedCounters(tx, input.endedBefore, input.limit);
    const recoveries = await deleteEndedRecoveries(tx, input.endedBefore, input.limit);
    const secrets = await eraseEndedSecrets(tx, input.endedBefore, input.limit);
    return keys + callbacks + sessions + counters + recoveries + secrets;
  });
}

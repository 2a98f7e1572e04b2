// Removes what is over: idempotency keys, operators' raw callbacks, sessions, recoveries, failed proofs, rotated secrets.
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
  /** Sessions, recoveries, counters and endpoints' previous secrets that have ended by then. */
  readonly endedBefore: Date;
  readonly limit: number;
};

/** At most `limit` of each; call again while something was removed. */
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

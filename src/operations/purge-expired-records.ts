// Removes what is over: idempotency keys, operators' raw callbacks, sessions, counters of failed proofs, rotated secrets.
import type { Database } from '../db/database.ts';
import { eraseEndedSecrets } from '../db/endpoint.ts';
import { deleteIdempotencyKeys } from '../db/idempotency-key.ts';
import { deleteOperatorCallbacks } from '../db/operator-callback.ts';
import { deleteEndedCounters } from '../db/proof-counter.ts';
import { deleteEndedSessions } from '../db/session.ts';

export type PurgeExpiredRecords = {
  readonly idempotencyKeysBefore: Date;
  readonly callbacksBefore: Date;
  /** Sessions, counters and endpoints' previous secrets that have ended by then. */
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
    const secrets = await eraseEndedSecrets(tx, input.endedBefore, input.limit);
    return keys + callbacks + sessions + counters + secrets;
  });
}

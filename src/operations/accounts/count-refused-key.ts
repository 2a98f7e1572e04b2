// Counts a refused API key against the address that it came from.
import { addAttempt, findWindowEnd } from '../../db/accounts/attempt-counter.ts';
import type { Database } from '../../db/platform/database.ts';
import type { AttemptLimit } from '../../security/attempt-limit.ts';

/**
 * Counts one, over all processes. Null while the limit is not reached; afterwards the end of the window, and nothing is
 * counted. Good keys are never counted, so they cost no write.
 */
export async function countRefusedKey(db: Database, limit: AttemptLimit, at: Date): Promise<Date | null> {
  return db.withTransaction(async (tx) => {
    if (await addAttempt(tx, limit, at)) return null;
    return (await findWindowEnd(tx, limit.subject)) ?? new Date(at.getTime() + limit.windowMs);
  });
}

// Adds to the audit log how many refusals of people an hour had beside those that have entries of their own.
import { recordEndedRefusals } from '../../db/accounts/refusal.ts';
import type { Database } from '../../db/platform/database.ts';

/** For at most `limit` hours that are over, in one transaction; returns how many there were. Call it again until it returns 0. */
export async function recordLeftOutRefusals(db: Database, at: Date, limit: number): Promise<number> {
  return db.withTransaction((tx) => recordEndedRefusals(tx, at, limit));
}

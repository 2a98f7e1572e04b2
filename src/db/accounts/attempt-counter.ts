// Attempt counters: how many authentication attempts or refused API keys a subject has in its current window.
import { boundedDelete } from '../platform/bounded-delete.ts';
import { DomainError } from '../../domain/errors.ts';
import type { AttemptLimit } from '../../security/attempt-limit.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

// One statement under the row's own lock, so that concurrent attempts cannot exceed the limit together.
const COUNT = statement('attempt_counter_count')`
  INSERT INTO attempt_counters AS c (subject, failures, window_ends_at) VALUES ($1, 1, $4)
  ON CONFLICT (subject) DO UPDATE SET
    failures = CASE WHEN c.window_ends_at <= $3 THEN 1 ELSE c.failures + 1 END,
    window_ends_at = CASE WHEN c.window_ends_at <= $3 THEN excluded.window_ends_at ELSE c.window_ends_at END
  WHERE c.window_ends_at <= $3 OR c.failures < $2
  RETURNING 1`;

/** Counts one attempt. False if the current window already has `maxFailures` attempts; then nothing changes. */
export async function addAttempt(tx: Tx, { subject, maxFailures, windowMs }: AttemptLimit, at: Date): Promise<boolean> {
  const rows = await tx.run(COUNT, [subject, maxFailures, at, new Date(at.getTime() + windowMs)]);
  return rows.length === 1;
}

const FIND_WINDOW_END = statement('attempt_counter_find_window_end')`
  SELECT window_ends_at FROM attempt_counters WHERE subject = $1`;

export async function findWindowEnd(db: Queryable, subject: string): Promise<Date | null> {
  return (await findOne<{ windowEndsAt: Date }>(db, FIND_WINDOW_END, [subject]))?.windowEndsAt ?? null;
}

/** Counts one attempt. At the limit, throws `rate_limited` with the message and the time to wait. */
export async function requireAttempt(tx: Tx, limit: AttemptLimit, message: string, at: Date): Promise<void> {
  if (await addAttempt(tx, limit, at)) return;
  const waitMs = ((await findWindowEnd(tx, limit.subject)) ?? at).getTime() - at.getTime();
  throw new DomainError('rate_limited', message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

// Locks in the order of the subjects, as counting does, so that no two transactions deadlock.
const UNCOUNT = statement('attempt_counter_uncount')`
  UPDATE attempt_counters SET failures = failures - 1 WHERE subject IN (
    SELECT subject FROM attempt_counters WHERE subject = ANY ($1) AND failures > 0 AND window_ends_at > $2
    ORDER BY subject FOR UPDATE)`;

/** Undoes the count of one attempt of each subject: the attempt was counted before its check, and it succeeded. */
export async function uncountAttempts(tx: Tx, subjects: readonly string[], at: Date): Promise<void> {
  await tx.run(UNCOUNT, [subjects, at]);
}

export const deleteEndedCounters = boundedDelete('attempt_counter_delete_ended', {
  table: 'attempt_counters',
  key: 'subject',
  isOver: 'window_ends_at <= $1',
});

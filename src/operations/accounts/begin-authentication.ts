// Begins an authentication attempt: counts it against its limits, and finds the user that it is for.
import type { Database, Tx } from '../../db/database.ts';
import { countAttempt, findWindowEnd } from '../../db/accounts/attempt-counter.ts';
import { findRecovery } from '../../db/accounts/recovery.ts';
import { findUser, findUserByEmail, type User } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import type { AttemptLimit } from '../../security/attempt-limit.ts';

/** How the caller identifies the user. */
export type Claim =
  | { readonly email: string }
  | { readonly userId: UserId }
  /** The digest of a recovery token; null: the text cannot be one. */
  | { readonly recoverySha256: Buffer | null };

export type BeginAuthentication = {
  readonly of: Claim;
  readonly limits: readonly AttemptLimit[];
  readonly at: Date;
};

/**
 * The user, or null when there is none, which the response must not reveal. Every attempt counts as failed until the
 * operation that verifies it takes it back, so that many simultaneous attempts cannot exceed a limit together. Throws
 * `rate_limited` when a limit is reached; then nothing is counted. A limit applies until its window ends, across
 * restarts.
 */
export async function beginAuthentication(db: Database, { of, limits, at }: BeginAuthentication): Promise<User | null> {
  // Counters are locked in the order of their subjects, so that no two attempts deadlock.
  const inOrder = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1));
  return db.withTransaction(async (tx) => {
    for (const { subject, maxFailures, windowMs } of inOrder) {
      const window = { at, endsAt: new Date(at.getTime() + windowMs) };
      if (await countAttempt(tx, subject, maxFailures, window)) continue;
      throw tooManyAttempts(await findWindowEnd(tx, subject), at);
    }
    return findClaimed(tx, of, at);
  });
}

async function findClaimed(tx: Tx, of: Claim, at: Date): Promise<User | null> {
  if ('email' in of) return findUserByEmail(tx, of.email);
  if ('userId' in of) return findUser(tx, of.userId);
  const userId = of.recoverySha256 && (await findRecovery(tx, of.recoverySha256, at));
  return userId === null ? null : findUser(tx, userId);
}

function tooManyAttempts(windowEndsAt: Date | null, at: Date): DomainError {
  const waitMs = (windowEndsAt ?? at).getTime() - at.getTime();
  return new DomainError('rate_limited', 'Too many attempts that failed. Wait, then try again.', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}

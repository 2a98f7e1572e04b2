// Counts an attempt to prove who one is, before it is tried, and finds whom it is about.
import type { Database, Tx } from '../../db/database.ts';
import { countAttempt, findWindowEnd } from '../../db/accounts/attempt-counter.ts';
import { findRecovery } from '../../db/accounts/recovery.ts';
import { findUser, findUserByEmail, type User } from '../../db/accounts/user.ts';
import { DomainError } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import { ATTEMPT_WINDOW_MS, type AttemptLimit } from '../../security/attempt-limit.ts';

/** By what somebody says who they are. */
export type Claim =
  | { readonly email: string }
  | { readonly userId: UserId }
  /** The digest of a recovery's token; null: it cannot be one. */
  | { readonly recoverySha256: Buffer | null };

export type BeginAuthentication = {
  readonly of: Claim;
  readonly limits: readonly AttemptLimit[];
  readonly at: Date;
};

/**
 * The user, or null when there is none: who tries must not be told. Each attempt counts as failed until the operation
 * that finds it right takes it back, so that many at the same moment cannot pass a limit together. Throws `rate_limited`
 * when a limit is reached; nothing is counted then. A limit lasts as long as its window, across restarts.
 */
export async function beginAuthentication(db: Database, { of, limits, at }: BeginAuthentication): Promise<User | null> {
  const window = { at, endsAt: new Date(at.getTime() + ATTEMPT_WINDOW_MS) };
  // In the order of their names: two that count the same never wait for each other.
  const inOrder = [...limits].sort((a, b) => (a.subject < b.subject ? -1 : 1));
  return db.withTransaction(async (tx) => {
    for (const { subject, maxFailures } of inOrder) {
      if (await countAttempt(tx, subject, maxFailures, window)) continue;
      throw tooMany(await findWindowEnd(tx, subject), at);
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

function tooMany(windowEndsAt: Date | null, at: Date): DomainError {
  const waitMs = (windowEndsAt ?? at).getTime() - at.getTime();
  return new DomainError('rate_limited', 'Too many attempts that failed. Wait, then try again.', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}

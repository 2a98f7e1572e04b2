// Finds the session of a token, with its person and their current roles.
import type { Database } from '../../db/platform/database.ts';
import { findSession, touchSession } from '../../db/accounts/session.ts';
import type { Session } from '../../domain/accounts/session.ts';
import { hashToken } from '../../security/token.ts';

// For an idle time of half an hour or more, a minute is precise enough and saves a write per request.
const TOUCH_EVERY_MS = 60_000;

export type AuthenticateSession = {
  readonly token: string;
  /** False for a request that no person asked for: the idle time continues. */
  readonly isUse: boolean;
  readonly at: Date;
};

/**
 * The session with the current roles, or null if the token belongs to no active session. A repeat changes at most the
 * time of the last use.
 */
export async function authenticateSession(db: Database, input: AuthenticateSession): Promise<Session | null> {
  const { token, isUse, at } = input;
  const tokenSha256 = hashToken(token);
  if (tokenSha256 === null) return null;
  const session = await findSession(db, tokenSha256, at);
  if (session && isUse && at.getTime() - session.lastUsedAt.getTime() > TOUCH_EVERY_MS)
    await touchSession(db, tokenSha256, at);
  return session;
}

// Reads a person's own sessions at one merchant.
import type { Database } from '../../db/platform/database.ts';
import { listSessions } from '../../db/accounts/session.ts';
import {
  MAX_SESSIONS_PER_MEMBER,
  sessionEndsAt,
  type ListedSession,
  type Session,
} from '../../domain/accounts/session.ts';

/** The sessions that have not ended, the last used first. */
export async function listOwnSessions(db: Database, current: Session, at: Date): Promise<ListedSession[]> {
  const rows = await listSessions(db, current.person, { limit: MAX_SESSIONS_PER_MEMBER, at });
  return rows
    .map(({ tokenSha256, ...row }) => ({
      ...row,
      endsAt: sessionEndsAt({ ...row, person: current.person }),
      isCurrent: tokenSha256.equals(current.tokenSha256),
    }))
    .filter(({ endsAt }) => endsAt > at);
}

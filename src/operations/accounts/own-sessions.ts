// Lists sessions of a person, and ends them: the current one, another one, all others, or those of a member.
import { recordAct } from '../../db/accounts/audit.ts';
import { findMember, findRoles } from '../../db/accounts/member.ts';
import { listSessions, deleteMemberSessions, deleteSession, deleteSessionById } from '../../db/accounts/session.ts';
import type { Database } from '../../db/platform/database.ts';
import { holdsOneOf, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import {
  MAX_SESSIONS_PER_MEMBER,
  sessionEndsAt,
  type ListedSession,
  type Session,
} from '../../domain/accounts/session.ts';
import { notFound } from '../../domain/errors.ts';
import { isId, type UserId } from '../../domain/ids.ts';

/** The sessions that have not ended, most recently used first. */
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

/** Logs the person out: the session has ended when this returns. A repeat changes nothing. */
export async function closeSession(db: Database, tokenSha256: Buffer, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    await deleteSession(tx, tokenSha256);
    await recordAct(tx, by, { action: 'session.closed', subjectId: by.person.userId, at });
  });
}

/** The session has ended when this returns. Throws `session_not_found`, also if it had ended before. */
export async function endSession(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    if (!isId('ses', id) || !(await deleteSessionById(tx, by.person, id))) throw notFound('session');
    await recordAct(tx, by, { action: 'session.ended', subjectId: id, at });
  });
}

/** Ends every session of the person at this merchant except the one with the token `kept`. A repeat changes nothing. */
export async function endOtherSessions(db: Database, kept: Buffer, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    const ended = await deleteMemberSessions(tx, by.person, kept);
    await recordAct(tx, by, { action: 'session.others_ended', subjectId: by.person.userId, after: { ended }, at });
  });
}

/**
 * Ends the sessions of a member whose browser is lost or stolen. The member has no session at this merchant when this
 * returns, and can log in again. The audit log, which the member can read, names who did it. A repeat ends sessions
 * opened since. Throws `member_not_found`, and `permission_denied` for a person who is no owner or admin any more.
 */
export async function endMemberSessions(db: Database, userId: string, by: ActedBy, at: Date): Promise<void> {
  const { merchantId, userId: actor } = by.person;
  await db.withTransaction(async (tx) => {
    if (!holdsOneOf(await findRoles(tx, merchantId, actor), ['admin'])) throw permissionDenied('no longer an admin');
    const member = await findMember(tx, merchantId, userId as UserId);
    if (!member) throw notFound('member');
    const ended = await deleteMemberSessions(tx, { merchantId, userId: member.userId }, null);
    await recordAct(tx, by, { action: 'member.sessions_ended', subjectId: member.userId, after: { ended }, at });
  });
}

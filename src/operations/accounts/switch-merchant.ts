// Moves a person's session from one of their merchants to another.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { deleteLeastUsedSessions, moveSession } from '../../db/accounts/session.ts';
import { findUserLocked } from '../../db/accounts/user.ts';
import { isId } from '../../domain/ids.ts';
import { isFreshToEnrol, permissionDenied, type ByPerson } from '../../domain/accounts/member.ts';
import { MAX_SESSIONS_PER_MEMBER, sessionEndsAt, type Session } from '../../domain/accounts/session.ts';

export type SwitchMerchant = ByPerson & {
  readonly session: Session;
  /** As the caller wrote it. */
  readonly merchantId: string;
};

/**
 * The token of a new session at the merchant; the previous one has ended. It keeps the times of log-in and last
 * verification, so it never lasts longer than a log-in there. It allows exactly what the membership there allows.
 * The audit log of each merchant has its own entry, which does not name the other one. Throws `permission_denied`
 * unless the person was verified within the last five minutes and is a member there now; then the session stays
 * unchanged. A repeat with the old token is refused.
 */
export async function switchMerchant(db: Database, input: SwitchMerchant): Promise<{ readonly token: string }> {
  const { session, by, at } = input;
  const { userId } = by.person;
  return db.withTransaction(async (tx) => {
    // A recovery and a new password end the person's sessions under this lock.
    await findUserLocked(tx, userId);
    // The person may still have to enrol a factor here and not there.
    if (!isFreshToEnrol(by.person, at)) throw permissionDenied('needs a step-up first');
    const { merchantId } = input;
    if (!isId('mer', merchantId)) throw permissionDenied('not a member');
    const roles = await findRolesLocked(tx, merchantId, userId);
    if (roles.length === 0) throw permissionDenied('not a member');
    if (sessionEndsAt({ ...session, lastUsedAt: at, person: { roles } }) <= at)
      throw permissionDenied('the session is too old for the roles there');
    const others = { kept: MAX_SESSIONS_PER_MEMBER - 1, at };
    const ended = await deleteLeastUsedSessions(tx, { merchantId, userId }, others);
    const { token } = await moveSession(tx, session.tokenSha256, { merchantId, at });
    await recordAct(tx, by, { action: 'session.closed', subjectId: userId, at });
    const there = { ...by, person: { ...by.person, merchantId } };
    const after = { verified_by: 'earlier_session', ...(ended > 0 && { sessions_ended: ended }) };
    await recordAct(tx, there, { action: 'session.opened', subjectId: userId, after, at });
    return { token };
  });
}

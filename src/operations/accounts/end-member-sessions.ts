// Ends the sessions of a member: what an owner or admin does when a member's browser is lost or stolen.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { findMember, findRoles } from '../../db/accounts/member.ts';
import { deleteMemberSessions } from '../../db/accounts/session.ts';
import type { UserId } from '../../domain/ids.ts';
import { holdsOneOf, memberNotFound, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';

/**
 * The member has no session at this merchant when this returns; they can log in again. The audit log, which the member
 * reads, has who did it. A repeat ends what was opened since. Throws `member_not_found`, and `permission_denied` for
 * anybody who is not an owner or admin any more.
 */
export async function endMemberSessions(db: Database, userId: string, by: ActedBy, at: Date): Promise<void> {
  const { merchantId, userId: actor } = by.person;
  await db.withTransaction(async (tx) => {
    if (!holdsOneOf(await findRoles(tx, merchantId, actor), ['admin'])) throw permissionDenied('no longer an admin');
    const member = await findMember(tx, merchantId, userId as UserId);
    if (!member) throw memberNotFound();
    const ended = await deleteMemberSessions(tx, { merchantId, userId: member.userId }, null);
    await recordAct(tx, by, { action: 'member.sessions_ended', subjectId: member.userId, after: { ended }, at });
  });
}

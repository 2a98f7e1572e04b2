// Takes a person out of a merchant.
import { recordAct } from '../db/audit.ts';
import type { Database } from '../db/database.ts';
import { findMember, findRoles, listMembers, lockMembers, markMemberRemoved } from '../db/member.ts';
import { deleteSessionsOfMember } from '../db/session.ts';
import { isId } from '../domain/ids.ts';
import { lastOwner, mayEdit, memberNotFound, permissionDenied, type ActedBy } from '../domain/member.ts';

/**
 * The person's sessions at this merchant are dead when this returns, and keys that they made create no payouts any more. What they
 * did stays named. Throws `member_not_found`, `permission_denied`, and `state_conflict` when no owner would be left.
 */
export async function removeMember(db: Database, userId: string, by: ActedBy, at: Date): Promise<void> {
  const { merchantId } = by.person;
  await db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    const member = isId('usr', userId) ? await findMember(tx, merchantId, userId) : null;
    if (!member) throw memberNotFound();
    const held = await findRoles(tx, merchantId, by.person.userId);
    if (!mayEdit(held, member.roles, [])) throw permissionDenied('only an owner removes an owner');
    const owners = (await listMembers(tx, merchantId)).filter((other) => other.roles.includes('owner'));
    if (owners.length === 1 && owners[0]?.userId === member.userId) throw lastOwner();
    await markMemberRemoved(tx, merchantId, member.userId, at);
    await deleteSessionsOfMember(tx, merchantId, member.userId);
    const before = { roles: member.roles };
    await recordAct(tx, by, { action: 'member.removed', subjectId: member.userId, before, after: null, at });
  });
}

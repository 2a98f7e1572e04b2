// Changes what a member may do.
import { recordAct } from '../db/audit.ts';
import type { Database } from '../db/database.ts';
import { findMember, findRoles, listMembers, lockMembers, setRoles } from '../db/member.ts';
import { isId } from '../domain/ids.ts';
import {
  lastOwner,
  mayEdit,
  memberNotFound,
  permissionDenied,
  type ActedBy,
  type Member,
  type Role,
} from '../domain/member.ts';

export type ChangeMemberRoles = {
  readonly userId: string;
  readonly roles: readonly Role[];
  readonly by: ActedBy;
  readonly at: Date;
};

/**
 * The member with the new roles, which count from their next request. Decided on the roles of this moment: no two changes
 * of one merchant's people run at once. Throws `member_not_found`, `permission_denied` for a role that the person who
 * grants it does not hold, and `state_conflict` when no owner would be left.
 */
export async function changeMemberRoles(db: Database, input: ChangeMemberRoles): Promise<Member> {
  const { userId, roles, by, at } = input;
  const { merchantId } = by.person;
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    const member = isId('usr', userId) ? await findMember(tx, merchantId, userId) : null;
    if (!member) throw memberNotFound();
    const held = await findRoles(tx, merchantId, by.person.userId);
    if (!mayEdit(held, member.roles, roles))
      throw permissionDenied('grants or takes a role that is not theirs to give');
    const owners = (await listMembers(tx, merchantId)).filter((other) => other.roles.includes('owner'));
    const isOnlyOwner = owners.length === 1 && owners[0]?.userId === member.userId;
    if (isOnlyOwner && !roles.includes('owner')) throw lastOwner();
    await setRoles(tx, merchantId, member.userId, roles);
    const change = { before: { roles: member.roles }, after: { roles } };
    await recordAct(tx, by, { action: 'member.roles_changed', subjectId: member.userId, ...change, at });
    return { ...member, roles };
  });
}

// Withdraws a proposal to change a member's roles or to remove them.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import { endMemberChange, findMemberChange } from '../../db/accounts/member-change.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { memberChangeNotFound } from '../../domain/accounts/member-change.ts';

/**
 * Nobody can approve the proposal when this returns. Throws `member_change_not_found`, `permission_denied` for anybody
 * but its proposer, and `state_conflict` when it is no longer pending.
 */
export async function withdrawMemberChange(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  const { merchantId, userId } = by.person;
  await db.withTransaction(async (tx) => {
    await lockMembersAs(tx, by);
    const change = isId('mch', id) ? await findMemberChange(tx, merchantId, id) : null;
    if (!change) throw memberChangeNotFound();
    if (change.proposedBy.id !== userId) throw permissionDenied('withdraws what somebody else proposed');
    if (!(await endMemberChange(tx, change.id, { state: 'withdrawn', by: null, at }))) {
      throw new DomainError('state_conflict', 'This proposal was decided or replaced, or it has expired.');
    }
    const before = { member: change.member.id, roles: change.after };
    await recordAct(tx, by, { action: 'member_change.withdrawn', subjectId: change.id, before, at });
  });
}

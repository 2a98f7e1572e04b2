// Approves or rejects a proposal to change a member's roles or to remove them.
import { recordDecision } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { listMembers, lockMembers } from '../../db/accounts/member.ts';
import { requireNotRecovered } from '../../db/accounts/recovery-guard.ts';
import { applyRoles, endMemberChange, findMemberChange } from '../../db/accounts/member-change.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { holdsOneOf, permissionDenied, type Member } from '../../domain/accounts/member.ts';
import {
  agreementOnChange,
  isService,
  mayAgree,
  memberChangeNotFound,
  merchantOf,
  requireApplicable,
  type Decider,
  type MemberChange,
} from '../../domain/accounts/member-change.ts';

export type DecideMemberChange = {
  readonly id: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: Decider;
  readonly at: Date;
};

/**
 * The decided proposal. Once approved, it applies from the member's next request. The member concerned may approve, if
 * they are an owner or admin, but not reject. A proposal is decided once: of two decisions at the same moment, one
 * applies. Everything is checked again with the members that the merchant has now. Throws `member_change_not_found`;
 * `permission_denied` for the proposer and for anybody who may not approve or not reject it; and `state_conflict` when
 * the proposal is no longer pending, its proposer may no longer propose it, or the member's roles have changed since.
 */
export async function decideMemberChange(db: Database, input: DecideMemberChange): Promise<MemberChange> {
  const { id, decision, by, at } = input;
  const merchantId = merchantOf(by);
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    if (!isService(by)) await requireNotRecovered(tx, by.person);
    const change = isId('mch', id) ? await findMemberChange(tx, merchantId, id) : null;
    if (!change) throw memberChangeNotFound();
    const members = await listMembers(tx, merchantId);
    requireSecondPerson(change, members, input);
    const userId = isService(by) ? null : by.person.userId;
    if (!(await endMemberChange(tx, change.id, { state: decision, by: userId, at }))) {
      throw new DomainError('state_conflict', 'This proposal was decided, withdrawn or replaced, or it has expired.');
    }
    const roles = decision === 'approved' ? requireApplicable(change, members).roles : change.before;
    const before = { member: change.member.id, roles };
    const after = { roles: change.after, proposed_by: change.proposedBy.id };
    await recordDecision(tx, by, { action: `member_change.${decision}`, subjectId: change.id, before, after, at });
    if (decision === 'approved') {
      const member = { merchantId, userId: change.member.id };
      await applyRoles(tx, member, change.after, { by, replacedBy: change.id, at });
    }
    const decided = await findMemberChange(tx, merchantId, change.id);
    if (!decided) throw memberChangeNotFound();
    return decided;
  });
}

function requireSecondPerson(
  change: MemberChange,
  members: readonly Member[],
  { decision, by }: DecideMemberChange,
): void {
  if (isService(by)) return;
  const { userId } = by.person;
  const own = members.find((member) => member.userId === userId);
  if (!own || !holdsOneOf(own.roles, ['admin'])) throw permissionDenied('no longer an admin');
  if (change.proposedBy.id === userId) throw permissionDenied('decides on a proposal of their own');
  // Otherwise a member could always keep others from demoting or removing them.
  if (decision === 'rejected' && change.member.id === userId) throw permissionDenied('rejects a change of their own');
  if (decision === 'approved' && !mayAgree(agreementOnChange(change, members), userId)) {
    throw permissionDenied('only an owner can approve another owner');
  }
}

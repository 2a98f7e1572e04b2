// Approves or rejects a proposal to change what a member may do.
import { recordDecision } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import { listMembers, lockMembers } from '../../db/accounts/member.ts';
import { endMemberChange, findMemberChange, putRoles, replaceMemberChanges } from '../../db/accounts/member-change.ts';
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
 * The decided proposal; approved, it counts from the member's next request. The member themself may agree, if they are an owner
 * or admin, and never reject. Decided once: of two at the same moment, one decides. All is judged again on the people of this moment. Throws
 * `member_change_not_found`; `permission_denied` for who proposed it, who may not agree to it or may not reject it; and `state_conflict` when it
 * is over, its proposer may propose it no more, or the member is not what they were.
 */
export async function decideMemberChange(db: Database, input: DecideMemberChange): Promise<MemberChange> {
  const { id, decision, by, at } = input;
  const merchantId = merchantOf(by);
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    const change = isId('mch', id) ? await findMemberChange(tx, merchantId, id) : null;
    if (!change) throw memberChangeNotFound();
    const members = await listMembers(tx, merchantId);
    requireSecond(change, members, input);
    const userId = isService(by) ? null : by.person.userId;
    if (!(await endMemberChange(tx, change.id, { state: decision, by: userId, at }))) {
      throw new DomainError('state_conflict', 'This proposal was decided, withdrawn or replaced, or its time is over.');
    }
    const roles = decision === 'approved' ? requireApplicable(change, members).roles : change.before;
    const before = { member: change.member.id, roles };
    const after = { roles: change.after, proposed_by: change.proposedBy.id };
    await recordDecision(tx, by, { action: `member_change.${decision}`, subjectId: change.id, before, after, at });
    if (decision === 'approved') await apply(tx, change, input);
    const decided = await findMemberChange(tx, merchantId, change.id);
    if (!decided) throw memberChangeNotFound();
    return decided;
  });
}

function requireSecond(change: MemberChange, members: readonly Member[], { decision, by }: DecideMemberChange): void {
  if (isService(by)) return;
  const { userId } = by.person;
  const own = members.find((member) => member.userId === userId);
  if (!own || !holdsOneOf(own.roles, ['admin'])) throw permissionDenied('no longer an admin');
  if (change.proposedBy.id === userId) throw permissionDenied('decides on a proposal of their own');
  // Who is to lose something would never let anybody take it.
  if (decision === 'rejected' && change.member.id === userId) throw permissionDenied('rejects a change of their own');
  if (decision === 'approved' && !mayAgree(agreementOnChange(change, members), userId)) {
    throw permissionDenied('only an owner agrees to another owner');
  }
}

async function apply(tx: Tx, change: MemberChange, { by, at }: DecideMemberChange): Promise<void> {
  const { merchantId, member } = change;
  await putRoles(tx, { merchantId, userId: member.id }, change.after, at);
  // The member is not what the others were proposed for.
  const about = { merchantId, userId: member.id, proposer: null, isGone: change.after === null };
  for (const id of await replaceMemberChanges(tx, about, at)) {
    const after = { replaced_by: change.id };
    await recordDecision(tx, by, { action: 'member_change.replaced', subjectId: id, after, at });
  }
}

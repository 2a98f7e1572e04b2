// Changes what a member may do, or takes them out of the merchant: at once, or as a proposal where two must agree.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/database.ts';
import { listOpenInvitations } from '../../db/accounts/invitation.ts';
import { listMembers, lockMembers } from '../../db/accounts/member.ts';
import { insertMemberChange, putRoles, replaceMemberChanges } from '../../db/accounts/member-change.ts';
import { newId, type UserId } from '../../domain/ids.ts';
import {
  mayEdit,
  memberNotFound,
  permissionDenied,
  type ActedBy,
  type Member,
  type Role,
} from '../../domain/accounts/member.ts';
import {
  agreementOn,
  haveSame,
  MEMBER_CHANGE_LIFE_MS,
  requireOwnerLeft,
  type Agreement,
  type MemberChange,
} from '../../domain/accounts/member-change.ts';

export type ChangeMember = {
  readonly userId: string;
  /** Null: none any more, the member is removed. */
  readonly roles: readonly Role[] | null;
  readonly by: ActedBy;
  readonly at: Date;
};

export type ChangedMember =
  | { readonly kind: 'changed'; readonly member: Member }
  | { readonly kind: 'removed' }
  | { readonly kind: 'waiting'; readonly change: MemberChange; readonly agreement: Agreement };

/**
 * What became of it: nothing, where they are the roles that the member has. Where a second person must agree, nothing of the member changes, and a proposal of the same person about
 * them is replaced. Otherwise it counts from their next request; who is removed has no session here when this returns, and keys
 * that they made create no payouts any more. Decided on the roles of this moment: no two changes of one merchant's people run at
 * once. Throws `member_not_found`, `permission_denied` for a role that is not theirs to give or take, and `state_conflict` when
 * no owner would be left.
 */
export async function changeMember(db: Database, input: ChangeMember): Promise<ChangedMember> {
  const { roles, by, at } = input;
  const { merchantId, userId: proposer } = by.person;
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    const members = await listMembers(tx, merchantId);
    const member = members.find(({ userId }) => userId === input.userId);
    if (!member) throw memberNotFound();
    const after = roles ?? [];
    const own = members.find(({ userId }) => userId === proposer);
    if (!own || !mayEdit(own.roles, member.roles, after)) {
      throw permissionDenied('grants or takes a role that is not theirs to give');
    }
    if (roles !== null && haveSame(member.roles, roles)) return { kind: 'changed', member };
    requireOwnerLeft(member, roles, members);
    const { userId } = member;
    const invitations = await listOpenInvitations(tx, merchantId, at);
    const agreement = agreementOn({ before: member.roles, after, proposer, userId }, { members, invitations });
    if (agreement !== null) {
      const change = await propose(tx, { member, roles, own, input });
      return { kind: 'waiting', change, agreement };
    }
    await putRoles(tx, { merchantId, userId }, roles, at);
    const action = roles === null ? 'member.removed' : 'member.roles_changed';
    const values = { before: { roles: member.roles }, after: roles === null ? null : { roles } };
    await recordAct(tx, by, { action, subjectId: userId, ...values, at });
    await replace(tx, input, userId, null);
    return roles === null ? { kind: 'removed' } : { kind: 'changed', member: { ...member, roles } };
  });
}

type Proposal = {
  readonly member: Member;
  readonly roles: readonly Role[] | null;
  readonly own: Member;
  readonly input: ChangeMember;
};

async function propose(tx: Tx, { member, roles, own, input }: Proposal): Promise<MemberChange> {
  const { by, at } = input;
  const change: MemberChange = {
    id: newId('mch', at.getTime()),
    merchantId: by.person.merchantId,
    member: { id: member.userId, name: member.name },
    state: 'pending',
    before: member.roles,
    after: roles,
    proposedBy: { id: own.userId, name: own.name },
    createdAt: at,
    expiresAt: new Date(at.getTime() + MEMBER_CHANGE_LIFE_MS),
    decidedBy: null,
    decidedAt: null,
  };
  await replace(tx, input, member.userId, change);
  await insertMemberChange(tx, change);
  await recordAct(tx, by, {
    action: 'member_change.proposed',
    subjectId: change.id,
    before: { member: member.userId, roles: member.roles },
    after: { roles },
    at,
  });
  return change;
}

// With a proposal in their place: only those of the same person. Without one, the member is not what they were.
async function replace(tx: Tx, input: ChangeMember, userId: UserId, next: MemberChange | null): Promise<void> {
  const { by, at, roles } = input;
  const { merchantId, userId: proposer } = by.person;
  const outdated = next === null ? ({ proposer: null, isGone: roles === null } as const) : { proposer };
  const about = { merchantId, userId, ...outdated };
  for (const id of await replaceMemberChanges(tx, about, at)) {
    await recordAct(tx, by, {
      action: 'member_change.replaced',
      subjectId: id,
      after: { replaced_by: next?.id ?? null },
      at,
    });
  }
}

// Changes a member's roles or removes the member: at once, or by a proposal if a second person must approve.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { applyRoles } from '../../db/accounts/apply-roles.ts';
import { listMembers } from '../../db/accounts/member.ts';
import { insertProposal, listAllOpenInvitations, replaceProposals } from '../../db/accounts/proposal.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import { newId } from '../../domain/ids.ts';
import {
  mayChangeRoles,
  toNamedPerson,
  permissionDenied,
  type ByPerson,
  type Member,
  type Role,
} from '../../domain/accounts/member.ts';
import { agreementOn, haveSameRoles, requireOwnerLeft, type Agreement } from '../../domain/accounts/member-change.ts';
import { pendingUntilExpiry, type MemberChange } from '../../domain/accounts/proposal.ts';
import { notFound } from '../../domain/errors.ts';

export type ChangeMember = ByPerson & {
  readonly userId: string;
  /** Null: the member is removed. */
  readonly roles: readonly Role[] | null;
};

export type ChangedMember =
  | { readonly kind: 'changed'; readonly member: Member }
  | { readonly kind: 'removed' }
  | { readonly kind: 'waiting'; readonly change: MemberChange; readonly agreement: Agreement };

/**
 * The result of the change. Nothing changes if the member already has these roles. If a second person must approve, the
 * member stays unchanged, and the proposal replaces an earlier one by the same person for the same member. Otherwise
 * the change applies from the member's next request: a removed member has no session at this merchant when this
 * returns, and API keys that they created create no payouts any more. Changes of one merchant's members run one at a
 * time, so the decision uses current roles. Throws `member_not_found`, `permission_denied` for a role that the person
 * may not grant or remove, and `state_conflict` if no owner would be left.
 */
export async function changeMember(db: Database, input: ChangeMember): Promise<ChangedMember> {
  const { roles, by, at } = input;
  const { merchantId, userId: proposer } = by.person;
  return db.withTransaction(async (tx) => {
    await lockMembersAs(tx, by);
    const members = await listMembers(tx, merchantId);
    const member = members.find(({ userId }) => userId === input.userId);
    if (!member) throw notFound('member');
    const after = roles ?? [];
    const own = members.find(({ userId }) => userId === proposer);
    if (!own || !mayChangeRoles(own.roles, member.roles, after)) {
      throw permissionDenied('may not grant or remove this role');
    }
    if (roles !== null && haveSameRoles(member.roles, roles)) return { kind: 'changed', member };
    requireOwnerLeft(member, roles, members);
    const { userId } = member;
    const invitations = await listAllOpenInvitations(tx, merchantId, at);
    const agreement = agreementOn({ before: member.roles, after, proposer, userId }, { members, invitations });
    if (agreement !== null) {
      const change = await propose(tx, { member, proposer: own, input });
      return { kind: 'waiting', change, agreement };
    }
    const action = roles === null ? 'member.removed' : 'member.roles_changed';
    const values = { before: { roles: member.roles }, after: roles === null ? null : { roles } };
    await recordAct(tx, by, { action, subjectId: userId, ...values, at });
    await applyRoles(tx, { merchantId, userId }, roles, { by, replacedBy: null, at });
    return roles === null ? { kind: 'removed' } : { kind: 'changed', member: { ...member, roles } };
  });
}

type NewProposal = { readonly member: Member; readonly proposer: Member; readonly input: ChangeMember };

async function propose(tx: Tx, { member, proposer, input }: NewProposal): Promise<MemberChange> {
  const { roles, by, at } = input;
  const { merchantId } = by.person;
  const { userId } = member;
  const id = newId('mch', at.getTime());
  const own = { merchantId, userId, proposer: proposer.userId, withRemovals: true };
  await replaceProposals(tx, own, { by, replacedBy: id, at });
  const change = { before: member.roles, after: roles, ...pendingUntilExpiry(at) };
  const proposed = { kind: 'member_change', id, merchantId, ...change } as const;
  await insertProposal(tx, { ...proposed, userId, proposedBy: proposer.userId });
  const values = { before: { member: userId, roles: member.roles }, after: { roles } };
  await recordAct(tx, by, { action: 'member_change.proposed', subjectId: id, ...values, at });
  return { ...proposed, member: toNamedPerson(member), proposedBy: toNamedPerson(proposer) };
}

// Counts what waits for a person's word as the second one: invitations, and changes of members and of the policy.
import { listAttestedInvitations } from './invitation.ts';
import { listAttestedMembers } from './member.ts';
import { listPendingMemberChanges } from './member-change.ts';
import { listPendingPolicyChanges } from './policy-change.ts';
import type { Queryable } from '../platform/database.ts';
import { agreementOnChange, approvalOf, mayAgree } from '../../domain/accounts/member-change.ts';
import { holdsOneOf, type Person } from '../../domain/accounts/member.ts';

export type Proposals = {
  readonly invitations: number;
  readonly memberChanges: number;
  readonly policyChanges: number;
};

/** What others proposed and this person may agree to. */
export async function countProposals(
  db: Queryable,
  { merchantId, userId, roles }: Person,
  at: Date,
): Promise<Proposals> {
  if (!holdsOneOf(roles, ['admin'])) return { invitations: 0, memberChanges: 0, policyChanges: 0 };
  const members = await listAttestedMembers(db, merchantId);
  const invitations = await listAttestedInvitations(db, merchantId, at);
  const approvals = invitations.map((invitation) => approvalOf(invitation, { members, invitations }));
  const memberChanges = await listPendingMemberChanges(db, merchantId, at);
  const policyChanges = await listPendingPolicyChanges(db, merchantId, at);
  return {
    invitations: approvals.filter((one) => one.state === 'waiting' && mayAgree(one.agreement, userId)).length,
    memberChanges: memberChanges.filter((change) => mayAgree(agreementOnChange(change, members), userId)).length,
    policyChanges: policyChanges.filter(({ proposedBy }) => proposedBy.id !== userId).length,
  };
}

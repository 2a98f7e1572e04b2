// Counts proposals that wait for a person as the second one: invitations, and changes of members and of the policy.
import { listAttestedMembers } from './member.ts';
import { listOpenProposals } from './proposal.ts';
import type { Queryable } from '../platform/database.ts';
import { agreementOnChange, approvalOf, mayApprove } from '../../domain/accounts/member-change.ts';
import { holdsOneOf, type Person } from '../../domain/accounts/member.ts';

export type WaitingProposals = {
  readonly invitations: number;
  readonly memberChanges: number;
  readonly policyChanges: number;
};

/** Proposals of others that this person may approve. */
export async function countProposals(
  db: Queryable,
  { merchantId, userId, roles }: Person,
  at: Date,
): Promise<WaitingProposals> {
  if (!holdsOneOf(roles, ['admin'])) return { invitations: 0, memberChanges: 0, policyChanges: 0 };
  const members = await listAttestedMembers(db, merchantId);
  const invitations = await listOpenProposals(db, 'invitation', merchantId, at);
  const approvals = invitations.map((invitation) => approvalOf(invitation, { members, invitations }));
  const memberChanges = await listOpenProposals(db, 'member_change', merchantId, at);
  const policyChanges = await listOpenProposals(db, 'policy_change', merchantId, at);
  return {
    invitations: approvals.filter((one) => one.state === 'waiting' && mayApprove(one.agreement, userId)).length,
    memberChanges: memberChanges.filter((change) => mayApprove(agreementOnChange(change, members), userId)).length,
    policyChanges: policyChanges.filter(({ proposedBy }) => proposedBy.id !== userId).length,
  };
}

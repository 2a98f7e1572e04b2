// Withdraws a proposal: an invitation, or a change of a member or of the policy.
import { recordAct } from '../../db/accounts/audit.ts';
import { findProposal, withdrawProposal as withdrawRow } from '../../db/accounts/proposal.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import type { Database } from '../../db/platform/database.ts';
import type { UserId } from '../../domain/ids.ts';
import { permissionDenied, type ByPerson } from '../../domain/accounts/member.ts';
import { isForOwnerOrAdmin } from '../../domain/accounts/member-change.ts';
import { isOpen, proposalEnded, type Proposal, type ProposalKind } from '../../domain/accounts/proposal.ts';
import { notFound } from '../../domain/errors.ts';

export type WithdrawProposal = ByPerson & { readonly kind: ProposalKind; readonly id: string };

/**
 * Nobody can approve the proposal when this returns, and the tokens of an invitation are invalid. Any owner or admin may withdraw an
 * invitation, and only the proposer a change. Throws `invitation_not_found`, also when it is no longer open,
 * `member_change_not_found` or `policy_change_not_found`; `permission_denied` for somebody else's change, and for an owner or admin
 * whom the service's staff invited: a member who could keep them out would remain the only administrator; and `state_conflict` when a
 * change is no longer pending.
 */
export async function withdrawProposal(db: Database, { kind, id, by, at }: WithdrawProposal): Promise<void> {
  const { merchantId, userId } = by.person;
  await db.withTransaction(async (tx) => {
    await lockMembersAs(tx, by);
    const proposal: Proposal | null = await findProposal(tx, kind, merchantId, id);
    if (!proposal || (proposal.kind === 'invitation' && !isOpen(proposal, at))) throw notFound(kind);
    requireMayWithdraw(proposal, userId);
    if (!(await withdrawRow(tx, proposal.id, at))) throw proposalEnded();
    await recordAct(tx, by, { action: `${kind}.withdrawn`, subjectId: id, before: whatWasProposed(proposal), at });
  });
}

function requireMayWithdraw(proposal: Proposal, userId: UserId): void {
  if (proposal.kind === 'invitation') {
    if (!isForOwnerOrAdmin(proposal)) return;
    throw permissionDenied('would withdraw an invitation of an owner or admin by the service');
  }
  if (proposal.proposedBy.id !== userId) throw permissionDenied('withdraws what somebody else proposed');
}

function whatWasProposed(proposal: Proposal): object {
  switch (proposal.kind) {
    case 'invitation':
      return { email: proposal.email };
    case 'member_change':
      return { member: proposal.member.id, roles: proposal.after };
    case 'policy_change':
      return proposal.changes;
  }
}

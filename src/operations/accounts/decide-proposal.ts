// Approves, rejects and withdraws proposals: invitations, and changes of a member or of the policy.
import { applyRoles } from '../../db/accounts/apply-roles.ts';
import { recordDecision, recordAct } from '../../db/accounts/audit.ts';
import { findRoles, listMembers, lockMembers } from '../../db/accounts/member.ts';
import { findPolicy, putPolicy } from '../../db/accounts/policy.ts';
import {
  decideProposal as decideRow,
  findProposal,
  listAllOpenInvitations,
  withdrawProposal as withdrawRow,
} from '../../db/accounts/proposal.ts';
import { requireNotRecovered, lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  agreementOnChange,
  approvalOf,
  isService,
  mayApprove,
  mayStillGrant,
  merchantOf,
  requireApplicable,
  isForOwnerOrAdmin,
  type Decider,
} from '../../domain/accounts/member-change.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Role, type ByPerson } from '../../domain/accounts/member.ts';
import { changedPolicy, policyObject } from '../../domain/accounts/policy.ts';
import {
  isOpen,
  proposalEnded,
  proposerWithoutPermission,
  type Invitation,
  type MemberChange,
  type PolicyChange,
  type ProposalKind,
  type ProposalOf,
  type Proposal,
} from '../../domain/accounts/proposal.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import type { UserId } from '../../domain/ids.ts';
import { newToken } from '../../security/token.ts';

type Decide<Kind extends ProposalKind, By> = {
  readonly kind: Kind;
  readonly id: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: By;
  readonly at: Date;
};
type DecideInvitation = Decide<'invitation', Decider>;
type DecideMemberChange = Decide<'member_change', Decider>;
type DecidePolicyChange = Decide<'policy_change', ActedBy>;

export type DecideProposal = DecideInvitation | DecideMemberChange | DecidePolicyChange;

export type DecidedProposal<Kind extends ProposalKind> = {
  readonly proposal: ProposalOf<Kind>;
  /** The token of an approved invitation, shown this once: the sender's token is invalid without it. Otherwise null. */
  readonly approvalToken: string | null;
};

/**
 * The decided proposal. Of two concurrent decisions one applies. Everything is checked again with the merchant's
 * current people and policy. An approved change applies from the next request on. An invitation has one token from its
 * sender and one from its approver: neither can accept in place of the person whom both agreed on. Throws
 * `invitation_not_found`, `member_change_not_found` or `policy_change_not_found`; `permission_denied` for the proposer
 * and others who may not decide; and `state_conflict` if the proposal can no longer be decided, or its proposer may no
 * longer propose it.
 */
export async function decideProposal<Input extends DecideProposal>(
  db: Database,
  input: Input,
): Promise<DecidedProposal<Input['kind']>> {
  const { kind, id, decision, by, at }: DecideProposal = input;
  const merchantId = merchantOf(by);
  return db.withTransaction(async (tx) => {
    // Without the lock, each of two concurrent approvals would undo the other's change.
    await lockMembers(tx, merchantId);
    if (!isService(by)) await requireNotRecovered(tx, by.person);
    const { proposal, takeEffect } = await judge(tx, input);
    const token = kind === 'invitation' && decision === 'approved' ? newToken() : null;
    const row = {
      state: decision,
      by: isService(by) ? null : by.person.userId,
      at,
      approvalSha256: token?.sha256 ?? null,
    };
    if (!(await decideRow(tx, proposal.id, row))) throw proposalEnded();
    await takeEffect();
    const decided = await findProposal<Input['kind']>(tx, kind, merchantId, id);
    if (!decided) throw notFound(kind);
    return { proposal: decided, approvalToken: token?.token ?? null };
  });
}

/** A proposal that may be decided, and the function that applies the decision, with the entry in the audit log. */
type Judged = { readonly proposal: Invitation | MemberChange | PolicyChange; readonly takeEffect: () => Promise<void> };

function judge(tx: Tx, input: DecideProposal): Promise<Judged> {
  switch (input.kind) {
    case 'invitation':
      return judgeInvitation(tx, input);
    case 'member_change':
      return judgeMemberChange(tx, input);
    case 'policy_change':
      return judgePolicyChange(tx, input);
  }
}

async function judgeInvitation(tx: Tx, { id, decision, by, at }: DecideInvitation): Promise<Judged> {
  const merchantId = merchantOf(by);
  const invitation = await findProposal(tx, 'invitation', merchantId, id);
  if (!invitation || !isOpen(invitation, at)) throw notFound('invitation');
  const members = await listMembers(tx, merchantId);
  const approval = approvalOf(invitation, { members, invitations: await listAllOpenInvitations(tx, merchantId, at) });
  if (!isService(by)) {
    const { userId } = by.person;
    requireAdmin(members.find((member) => member.userId === userId)?.roles);
    if (invitation.proposedBy?.id === userId) throw permissionDenied('decides on an invitation of their own');
    const mayDecide = approval.state !== 'waiting' || decision === 'rejected' || mayApprove(approval.agreement, userId);
    if (!mayDecide) throw permissionDenied('only an owner can approve another owner');
  }
  if (approval.state !== 'waiting') {
    throw stateConflict('This invitation needs no approval. Withdraw it if it is wrong.');
  }
  if (decision === 'approved' && !mayStillGrant(invitation, members)) {
    throw stateConflict('The sender of this invitation can no longer grant its roles. Create a new invitation.');
  }
  const { email, roles, proposedBy } = invitation;
  const values =
    decision === 'approved'
      ? { after: { email, roles, invited_by: proposedBy?.id ?? null } }
      : { before: { email, roles } };
  const act = { action: `invitation.${decision}`, subjectId: id, ...values, at };
  return { proposal: invitation, takeEffect: () => recordDecision(tx, by, act) };
}

/** The member concerned may approve, if they are an owner or admin, but may not reject. */
async function judgeMemberChange(tx: Tx, { id, decision, by, at }: DecideMemberChange): Promise<Judged> {
  const merchantId = merchantOf(by);
  const change = await findProposal(tx, 'member_change', merchantId, id);
  if (!change) throw notFound('member_change');
  const members = await listMembers(tx, merchantId);
  if (!isService(by)) {
    const { userId } = by.person;
    requireAdmin(members.find((member) => member.userId === userId)?.roles);
    if (change.proposedBy.id === userId) throw permissionDenied('decides on a proposal of their own');
    // Otherwise a member could always prevent their own demotion or removal.
    if (decision === 'rejected' && change.member.id === userId) throw permissionDenied('rejects a change of their own');
    if (decision === 'approved' && !mayApprove(agreementOnChange(change, members), userId)) {
      throw permissionDenied('only an owner can approve another owner');
    }
  }
  const takeEffect = async () => {
    const roles = decision === 'approved' ? requireApplicable(change, members).roles : change.before;
    const before = { member: change.member.id, roles };
    const after = { roles: change.after, proposed_by: change.proposedBy.id };
    await recordDecision(tx, by, { action: `member_change.${decision}`, subjectId: id, before, after, at });
    if (decision === 'rejected') return;
    const member = { merchantId, userId: change.member.id };
    await applyRoles(tx, member, change.after, { by, replacedBy: change.id, at });
  };
  return { proposal: change, takeEffect };
}

async function judgePolicyChange(tx: Tx, { id, decision, by, at }: DecidePolicyChange): Promise<Judged> {
  const { merchantId, userId } = by.person;
  const change = await findProposal(tx, 'policy_change', merchantId, id);
  if (!change) throw notFound('policy_change');
  const { changes, proposedBy } = change;
  requireAdmin(await findRoles(tx, merchantId, userId));
  if (decision === 'approved' && !holdsOneOf(await findRoles(tx, merchantId, proposedBy.id), ['admin'])) {
    throw proposerWithoutPermission();
  }
  if (proposedBy.id === userId) throw permissionDenied('decides on a proposal of their own');
  const takeEffect = async () => {
    if (decision === 'rejected') {
      await recordDecision(tx, by, { action: 'policy_change.rejected', subjectId: id, before: changes, at });
      return;
    }
    const policy = await findPolicy(tx, merchantId);
    const next = changedPolicy(policy, changes);
    await putPolicy(tx, merchantId, next, at);
    const values = { before: policyObject(policy), after: policyObject(next) };
    await recordDecision(tx, by, { action: 'policy_change.approved', subjectId: id, ...values, at });
  };
  return { proposal: change, takeEffect };
}

function requireAdmin(roles: readonly Role[] | undefined): void {
  if (!roles || !holdsOneOf(roles, ['admin'])) throw permissionDenied('no longer an admin');
}

export type WithdrawProposal = ByPerson & { readonly kind: ProposalKind; readonly id: string };

/**
 * Nobody can approve the proposal when this returns, and the tokens of an invitation are invalid. Any owner or admin
 * may withdraw an invitation; only the proposer may withdraw a change. Throws `invitation_not_found`, also if it is no
 * longer open, `member_change_not_found` or `policy_change_not_found`; `permission_denied` for another person's change,
 * and for an owner or admin whom the service's staff invited, because a member who kept them out would remain the only
 * administrator; and `state_conflict` if a change is no longer pending.
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

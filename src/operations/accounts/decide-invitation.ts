// Approves or rejects an invitation that waits for a second person.
import { recordDecision } from '../../db/accounts/audit.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import {
  approveInvitation,
  findOpenInvitation,
  listOpenInvitations,
  withdrawInvitation,
} from '../../db/accounts/invitation.ts';
import { listMembers, lockMembers } from '../../db/accounts/member.ts';
import { requireNotRecovered } from '../../db/accounts/recovery-guard.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import {
  holdsOneOf,
  invitationNotFound,
  toNamedPerson,
  permissionDenied,
  type Invitation,
  type Member,
} from '../../domain/accounts/member.ts';
import {
  approvalOf,
  isService,
  mayStillGrant,
  mayAgree,
  merchantOf,
  type Decider,
  type People,
} from '../../domain/accounts/member-change.ts';
import { newToken } from '../../security/token.ts';

export type DecideInvitation = {
  readonly id: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: Decider;
  readonly at: Date;
};

export type DecidedInvitation =
  /** The approval token, which is shown this once: without it the invitation's own token is not valid. */
  | { readonly kind: 'approved'; readonly invitation: Invitation; readonly approvalToken: string }
  | { readonly kind: 'rejected' };

/**
 * The decision. The sender of the invitation has one token and its approver another, so that neither can accept in
 * place of the person whom both agreed on. A rejected invitation is withdrawn. Everything is checked with the members
 * that the merchant has now. Throws `invitation_not_found`; `permission_denied` for the sender and for anybody who may
 * not approve it; and `state_conflict` when it does not wait for approval, or its sender may no longer grant its roles.
 */
export async function decideInvitation(db: Database, input: DecideInvitation): Promise<DecidedInvitation> {
  const { id, by, at } = input;
  const merchantId = merchantOf(by);
  return db.withTransaction(async (tx) => {
    await lockMembers(tx, merchantId);
    if (!isService(by)) await requireNotRecovered(tx, by.person);
    const invitation = isId('inv', id) ? await findOpenInvitation(tx, merchantId, id, at) : null;
    if (!invitation) throw invitationNotFound();
    const members = await listMembers(tx, merchantId);
    requireSecondPerson(invitation, { members, invitations: await listOpenInvitations(tx, merchantId, at) }, input);
    if (input.decision === 'approved') return approve(tx, invitation, members, input);
    await withdrawInvitation(tx, merchantId, invitation.id, at);
    const { email, roles } = invitation;
    await recordDecision(tx, by, { action: 'invitation.rejected', subjectId: id, before: { email, roles }, at });
    return { kind: 'rejected' };
  });
}

function requireSecondPerson(invitation: Invitation, people: People, { decision, by }: DecideInvitation): void {
  const approval = approvalOf(invitation, people);
  if (!isService(by)) {
    const { userId } = by.person;
    const own = people.members.find((member) => member.userId === userId);
    if (!own || !holdsOneOf(own.roles, ['admin'])) throw permissionDenied('no longer an admin');
    if (invitation.createdBy?.id === userId) throw permissionDenied('decides on an invitation of their own');
    const mayDecide = approval.state !== 'waiting' || decision === 'rejected' || mayAgree(approval.agreement, userId);
    if (!mayDecide) throw permissionDenied('only an owner can approve another owner');
  }
  if (approval.state !== 'waiting') {
    throw new DomainError('state_conflict', 'This invitation needs no approval. Withdraw it if it is wrong.');
  }
}

async function approve(
  tx: Tx,
  invitation: Invitation,
  members: readonly Member[],
  { by, at }: DecideInvitation,
): Promise<DecidedInvitation> {
  if (!mayStillGrant(invitation, members)) {
    throw new DomainError(
      'state_conflict',
      'The sender of this invitation can no longer grant its roles. Create a new invitation.',
    );
  }
  const { token, sha256 } = newToken();
  const userId = isService(by) ? null : by.person.userId;
  await approveInvitation(tx, invitation.id, { by: userId, at, tokenSha256: sha256 });
  const { email, roles } = invitation;
  const after = { email, roles, invited_by: invitation.createdBy?.id ?? null };
  await recordDecision(tx, by, { action: 'invitation.approved', subjectId: invitation.id, after, at });
  const approver = members.find((member) => member.userId === userId);
  const approved = {
    ...invitation,
    approvedAt: at,
    approvedBy: approver === undefined ? null : toNamedPerson(approver),
  };
  return { kind: 'approved', invitation: approved, approvalToken: token };
}

// Invites a person to act for a merchant.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { listMembers } from '../../db/accounts/member.ts';
import { insertProposal, listAllOpenInvitations, withdrawProposal } from '../../db/accounts/proposal.ts';
import { lockMembersAs } from '../../db/accounts/recovery-guard.ts';
import { invalidParameters, stateConflict } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import {
  holdsOneOf,
  MAX_MEMBERS_PER_MERCHANT,
  MAX_OPEN_INVITATIONS_PER_MERCHANT,
  mayGrant,
  toNamedPerson,
  permissionDenied,
  type ByPerson,
  type Role,
} from '../../domain/accounts/member.ts';
import { approvalOf, isForOwnerOrAdmin, type InvitationApproval } from '../../domain/accounts/member-change.ts';
import { pendingUntilExpiry, type Invitation } from '../../domain/accounts/proposal.ts';
import { newToken } from '../../security/token.ts';

export type CreateInvitation = ByPerson & { readonly email: string; readonly roles: readonly Role[] };

export type CreatedInvitation = {
  readonly invitation: Invitation;
  readonly approval: InvitationApproval;
  readonly token: string;
};

/**
 * The invitation with its token, which is shown this once. If a second person must approve the invitation, the token is
 * invalid until then. An open invitation for the same e-mail is withdrawn. Throws `permission_denied` for a role that
 * the person does not hold and for the e-mail of an owner or admin whom the service's staff invited,
 * `parameter_invalid` for the e-mail of a member, and `state_conflict` if there are too many members or invitations.
 */
export async function createInvitation(
  db: Database,
  { email, roles, by, at }: CreateInvitation,
): Promise<CreatedInvitation> {
  const { merchantId, userId } = by.person;
  const { token, sha256 } = newToken();
  return db.withTransaction(async (tx) => {
    await lockMembersAs(tx, by);
    const members = await listMembers(tx, merchantId);
    const creator = members.find((member) => member.userId === userId);
    if (!creator || !holdsOneOf(creator.roles, ['admin']) || !mayGrant(creator.roles, roles))
      throw permissionDenied('grants a role they do not hold');
    if (members.some((member) => member.email === email)) {
      throw invalidParameters([
        {
          param: 'email',
          code: 'parameter_invalid',
          message: 'email belongs to a member. Change the roles of that member instead.',
        },
      ]);
    }
    const open = await listAllOpenInvitations(tx, merchantId, at);
    const [outdated, invitations] = [
      open.filter((other) => other.email === email).reverse(),
      open.filter((other) => other.email !== email),
    ];
    if (outdated.some(isForOwnerOrAdmin)) {
      throw permissionDenied('would replace an invitation of an owner or admin by the service');
    }
    for (const old of outdated) await withdrawProposal(tx, old.id, at);
    if (members.length >= MAX_MEMBERS_PER_MERCHANT || invitations.length >= MAX_OPEN_INVITATIONS_PER_MERCHANT) {
      throw stateConflict('There are too many members or invitations. Remove some first.');
    }
    const id = newId('inv', at.getTime());
    const proposed = { kind: 'invitation', id, merchantId, email, roles, ...pendingUntilExpiry(at) } as const;
    await insertProposal(tx, { ...proposed, proposedBy: userId, tokenSha256: sha256 });
    for (const old of outdated) {
      const change = { before: { email }, after: { replaced_by: id } };
      await recordAct(tx, by, { action: 'invitation.withdrawn', subjectId: old.id, ...change, at });
    }
    const invitation: Invitation = { ...proposed, proposedBy: toNamedPerson(creator) };
    const approval = approvalOf(invitation, { members, invitations });
    const after = { email, roles, waits_for_approval: approval.state === 'waiting' };
    await recordAct(tx, by, { action: 'invitation.created', subjectId: id, after, at });
    return { invitation, approval, token };
  });
}

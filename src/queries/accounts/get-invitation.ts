// Finds the open invitation that a person may accept with what they were handed, and whether they are known.
import type { Database } from '../../db/database.ts';
import { findInvitationByToken, listOpenInvitations, type InvitationTokens } from '../../db/accounts/invitation.ts';
import { listMembers } from '../../db/accounts/member.ts';
import { findUserByEmail } from '../../db/accounts/user.ts';
import { invitationNotFound, type Invitation } from '../../domain/accounts/member.ts';
import { approvalOf } from '../../domain/accounts/member-change.ts';

/** Throws `invitation_not_found`, also while a second person’s word is missing. */
export async function getInvitation(
  db: Database,
  tokens: InvitationTokens,
  at: Date,
): Promise<{ readonly invitation: Invitation; readonly isKnownPerson: boolean }> {
  return db.withTransaction(async (tx) => {
    const invitation = await findInvitationByToken(tx, tokens, at);
    if (!invitation) throw invitationNotFound();
    const members = await listMembers(tx, invitation.merchantId);
    const invitations = await listOpenInvitations(tx, invitation.merchantId, at);
    if (approvalOf(invitation, { members, invitations }).state === 'waiting') throw invitationNotFound();
    return { invitation, isKnownPerson: (await findUserByEmail(tx, invitation.email)) !== null };
  });
}

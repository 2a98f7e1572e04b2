// Reads the open invitations of a merchant, and the one that a person may accept with the tokens they hold.
import type { Database } from '../../db/platform/database.ts';
import {
  findInvitationByToken,
  listAttestedInvitations,
  listOpenInvitations,
  type InvitationTokens,
} from '../../db/accounts/invitation.ts';
import { listAttestedMembers, listMembers } from '../../db/accounts/member.ts';
import { findMerchantName } from '../../db/accounts/merchant.ts';
import { findUserByEmail } from '../../db/accounts/user.ts';
import type { MerchantId } from '../../domain/ids.ts';
import { invitationNotFound, type Invitation } from '../../domain/accounts/member.ts';
import { approvalOf, type InvitationApproval } from '../../domain/accounts/member-change.ts';

export type ListedInvitation = { readonly invitation: Invitation; readonly approval: InvitationApproval };

/** All open invitations with the approval that each needs, newest first. There are 100 at the most. */
export async function listInvitations(db: Database, merchantId: MerchantId, at: Date): Promise<ListedInvitation[]> {
  return db.withTransaction(async (tx) => {
    const members = await listAttestedMembers(tx, merchantId);
    const invitations = await listAttestedInvitations(tx, merchantId, at);
    return invitations.map((invitation) => ({
      invitation,
      approval: approvalOf(invitation, { members, invitations }),
    }));
  });
}

/**
 * The open invitation that these tokens open, the name of its merchant, and whether the invited person has an account. Throws
 * `invitation_not_found`, also while the invitation waits for a second person's approval.
 */
export async function getInvitation(
  db: Database,
  tokens: InvitationTokens,
  at: Date,
): Promise<{ readonly invitation: Invitation; readonly merchantName: string; readonly hasAccount: boolean }> {
  return db.withTransaction(async (tx) => {
    const invitation = await findInvitationByToken(tx, tokens, at);
    if (!invitation) throw invitationNotFound();
    const members = await listMembers(tx, invitation.merchantId);
    const invitations = await listOpenInvitations(tx, invitation.merchantId, at);
    if (approvalOf(invitation, { members, invitations }).state === 'waiting') throw invitationNotFound();
    const merchantName = await findMerchantName(tx, invitation.merchantId);
    return { invitation, merchantName, hasAccount: (await findUserByEmail(tx, invitation.email)) !== null };
  });
}

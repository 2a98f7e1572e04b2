// Reads the open invitations of a merchant, and the one that a person may accept with their tokens.
import type { Database } from '../../db/platform/database.ts';
import { listAttestedMembers, listMembers } from '../../db/accounts/member.ts';
import { findMerchantName } from '../../db/accounts/merchant.ts';
import {
  findInvitationByToken,
  listAllOpenInvitations,
  listOpenProposals,
  type InvitationTokens,
} from '../../db/accounts/proposal.ts';
import { findUserByEmail } from '../../db/accounts/user.ts';
import type { MerchantId } from '../../domain/ids.ts';
import { approvalOf, type InvitationApproval } from '../../domain/accounts/member-change.ts';
import type { Invitation } from '../../domain/accounts/proposal.ts';
import { notFound } from '../../domain/errors.ts';

export type ListedInvitation = { readonly invitation: Invitation; readonly approval: InvitationApproval };

/** All open invitations, newest first, at most 100, each with the approval that it needs. */
export async function listInvitations(db: Database, merchantId: MerchantId, at: Date): Promise<ListedInvitation[]> {
  return db.withTransaction(async (tx) => {
    const members = await listAttestedMembers(tx, merchantId);
    const invitations = (await listOpenProposals(tx, 'invitation', merchantId, at)).reverse();
    return invitations.map((invitation) => ({
      invitation,
      approval: approvalOf(invitation, { members, invitations }),
    }));
  });
}

/**
 * The open invitation of these tokens, the name of its merchant, and whether the invited person has an account. Throws
 * `invitation_not_found`, also while the invitation waits for a second person's approval.
 */
export async function getInvitation(
  db: Database,
  tokens: InvitationTokens,
  at: Date,
): Promise<{ readonly invitation: Invitation; readonly merchantName: string; readonly hasAccount: boolean }> {
  return db.withTransaction(async (tx) => {
    const invitation = await findInvitationByToken(tx, tokens, at);
    if (!invitation) throw notFound('invitation');
    const members = await listMembers(tx, invitation.merchantId);
    const invitations = await listAllOpenInvitations(tx, invitation.merchantId, at);
    if (approvalOf(invitation, { members, invitations }).state === 'waiting') throw notFound('invitation');
    const merchantName = await findMerchantName(tx, invitation.merchantId);
    return { invitation, merchantName, hasAccount: (await findUserByEmail(tx, invitation.email)) !== null };
  });
}

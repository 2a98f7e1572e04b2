// Lists the invitations that are open, with what each waits for.
import type { Database } from '../../db/database.ts';
import { listOpenInvitations } from '../../db/accounts/invitation.ts';
import { listMembers } from '../../db/accounts/member.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Invitation } from '../../domain/accounts/member.ts';
import { approvalOf, type InvitationApproval } from '../../domain/accounts/member-change.ts';

export type ListedInvitation = { readonly invitation: Invitation; readonly approval: InvitationApproval };

/** All of them, newest first: there are 100 at the most. */
export async function listInvitations(db: Database, merchantId: MerchantId, at: Date): Promise<ListedInvitation[]> {
  return db.withTransaction(async (tx) => {
    const members = await listMembers(tx, merchantId);
    const invitations = await listOpenInvitations(tx, merchantId, at);
    return invitations.map((invitation) => ({
      invitation,
      approval: approvalOf(invitation, { members, invitations }),
    }));
  });
}

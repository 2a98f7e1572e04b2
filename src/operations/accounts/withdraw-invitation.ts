// Withdraws an open invitation.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { findOpenInvitation, withdrawInvitation as withdrawRow } from '../../db/accounts/invitation.ts';
import { isId } from '../../domain/ids.ts';
import { invitationNotFound, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { isForOwnerOrAdmin } from '../../domain/accounts/member-change.ts';

/**
 * The invitation's token is invalid when this returns. Throws `invitation_not_found`, also when it was accepted in the
 * meantime, and `permission_denied` for an owner or admin whom the service's staff invited: a member who could keep
 * them out would remain the only administrator.
 */
export async function withdrawInvitation(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    const { merchantId } = by.person;
    const invitation = isId('inv', id) ? await findOpenInvitation(tx, merchantId, id, at) : null;
    if (invitation === null) throw invitationNotFound();
    if (isForOwnerOrAdmin(invitation))
      throw permissionDenied('would withdraw an invitation of an owner or admin by the service');
    const email = await withdrawRow(tx, merchantId, invitation.id, at);
    if (email === null) throw invitationNotFound();
    await recordAct(tx, by, { action: 'invitation.withdrawn', subjectId: id, before: { email }, at });
  });
}

// Withdraws an invitation that waits for an answer.
import { recordAct } from '../db/audit.ts';
import type { Database } from '../db/database.ts';
import { withdrawInvitation as withdrawRow } from '../db/invitation.ts';
import { isId } from '../domain/ids.ts';
import { invitationNotFound, type ActedBy } from '../domain/member.ts';

/** Its token opens nothing when this returns. Throws `invitation_not_found`, also when it was accepted meanwhile. */
export async function withdrawInvitation(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    const email = isId('inv', id) ? await withdrawRow(tx, by.person.merchantId, id, at) : null;
    if (email === null) throw invitationNotFound();
    await recordAct(tx, by, { action: 'invitation.withdrawn', subjectId: id, before: { email }, at });
  });
}

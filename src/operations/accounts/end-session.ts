// Ends a person's own session by its id, or all of them but the one in use.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { deleteMemberSessions, deleteSessionById } from '../../db/accounts/session.ts';
import { isId } from '../../domain/ids.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';
import { sessionNotFound } from '../../domain/accounts/session.ts';

/** The session has ended when this returns. Throws `session_not_found`, also when it had ended before. */
export async function endSession(db: Database, id: string, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    if (!isId('ses', id) || !(await deleteSessionById(tx, by.person, id))) throw sessionNotFound();
    await recordAct(tx, by, { action: 'session.ended', subjectId: id, at });
  });
}

/** Of the person's sessions at this merchant only the one with the token `kept` is left. A repeat changes nothing. */
export async function endOtherSessions(db: Database, kept: Buffer, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    const ended = await deleteMemberSessions(tx, by.person, kept);
    await recordAct(tx, by, { action: 'session.others_ended', subjectId: by.person.userId, after: { ended }, at });
  });
}

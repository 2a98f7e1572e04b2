// Logs a person out.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import { deleteSession } from '../../db/accounts/session.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

/** The session has ended when this returns. A repeat changes nothing. */
export async function closeSession(db: Database, tokenSha256: Buffer, by: ActedBy, at: Date): Promise<void> {
  await db.withTransaction(async (tx) => {
    await deleteSession(tx, tokenSha256);
    await recordAct(tx, by, { action: 'session.closed', subjectId: by.person.userId, at });
  });
}

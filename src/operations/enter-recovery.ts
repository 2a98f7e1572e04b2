// Puts the service in recovery, because its database is not the one that it last wrote.
import { insertAuditEntry } from '../db/accounts/audit.ts';
import { deleteAllSessions } from '../db/accounts/session.ts';
import type { Database } from '../db/platform/database.ts';
import { insertRestore, moveFence, type FenceRow } from '../db/platform/fence.ts';
import type { FoundRestore, Marker } from '../domain/fence.ts';

export type EnterRecovery = {
  readonly found: FoundRestore;
  /** As it was read. */
  readonly fence: FenceRow;
  readonly writer: string;
  readonly at: Date;
};

/**
 * One transaction records the restore, ends all sessions, since some of them had ended, and moves the fence above every marker. Null, and
 * nothing changes, if another process wrote the fence since it was read. From the commit on the database refuses to send, decide and post.
 */
export async function enterRecovery(
  db: Database,
  { found, fence, writer, at }: EnterRecovery,
): Promise<{ readonly id: string; readonly marker: Marker } | null> {
  return db.withTransaction(async (tx) => {
    const marker = await moveFence(tx, fence, found, writer);
    if (marker === null) return null;
    const sessionsEnded = await deleteAllSessions(tx);
    const id = await insertRestore(tx, found, fence, sessionsEnded);
    const after = {
      reason: found.reason,
      database_written_at: fence.writtenAt,
      marker: found.marker?.place ?? null,
      marker_written_at: found.marker?.writtenAt ?? null,
      sessions_ended: sessionsEnded,
    };
    const act = { action: 'restore.found', subjectId: id, after, at };
    await insertAuditEntry(tx, { ...act, merchantId: null, outcome: 'done' });
    return { id, marker };
  });
}

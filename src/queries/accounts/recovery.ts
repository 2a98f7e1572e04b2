// Reads the recoveries that wait for the approval of a second one of the staff.
import type { Database } from '../../db/platform/database.ts';
import { listRecoveryRequests as listRows } from '../../db/accounts/recovery.ts';
import type { RecoveryRequest } from '../../domain/accounts/recovery.ts';

/** Oldest first, at most `limit`. */
export async function listRecoveryRequests(db: Database, at: Date, limit: number): Promise<RecoveryRequest[]> {
  return listRows(db, at, limit);
}

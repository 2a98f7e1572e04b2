// Records in the audit log that a person was refused.
import { recordRefusal as record, type Refusal } from '../../db/accounts/refusal.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

export type RecordRefusal = Refusal & { readonly by: ActedBy };

/** Each call adds an entry or, after so many of its kind in an hour, is counted for one that follows. */
export async function recordRefusal(db: Database, { by, ...refusal }: RecordRefusal): Promise<void> {
  await db.withTransaction((tx) => record(tx, by, refusal));
}

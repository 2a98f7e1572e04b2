// Records in the audit log that a person was refused.
import { recordRefusal as record, type Refusal } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

export type RecordRefusal = Refusal & { readonly by: ActedBy };

/** Each call adds one entry. */
export async function recordRefusal(db: Database, { by, ...refusal }: RecordRefusal): Promise<void> {
  await record(db, by, refusal);
}

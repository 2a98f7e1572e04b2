// Notes in the audit log that a person was refused.
import { recordRefusal as record, type Refusal } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/database.ts';
import type { ActedBy } from '../../domain/accounts/member.ts';

export type RecordRefusal = Refusal & { readonly by: ActedBy };

/** One entry; each call adds one. */
export async function recordRefusal(db: Database, { by, ...refusal }: RecordRefusal): Promise<void> {
  await record(db, by, refusal);
}

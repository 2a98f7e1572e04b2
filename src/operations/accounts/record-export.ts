// Records in the audit log that a person exported data.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ByPerson } from '../../domain/accounts/member.ts';

export type RecordExport = ByPerson & {
  /** What was exported. */
  readonly dataset: 'collections' | 'payouts' | 'ledger';
  /** The filters, without what they say about somebody. */
  readonly filters: object;
};

/** Each call adds one entry. Call it before the first row leaves: what cannot be recorded is not exported. */
export async function recordExport(db: Database, { by, dataset, filters, at }: RecordExport): Promise<void> {
  await db.withTransaction((tx) =>
    recordAct(tx, by, { action: `${dataset}.exported`, subjectId: null, after: filters, at }),
  );
}

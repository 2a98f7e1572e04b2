// Reads a merchant's audit log, and records refusals and exports in it.
import { listAuditEntries as listRows, recordAct, type AuditFilter } from '../../db/accounts/audit.ts';
import { findNames } from '../../db/accounts/names.ts';
import { recordRefusal as record, recordEndedRefusals, type Refusal } from '../../db/accounts/refusal.ts';
import type { Database } from '../../db/platform/database.ts';
import type { Page } from '../../db/platform/page.ts';
import { shownToMerchant, type ListedAuditEntry } from '../../domain/accounts/audit.ts';
import type { ByPerson } from '../../domain/accounts/member.ts';
import type { MerchantId } from '../../domain/ids.ts';

/** The newest entries that pass the filter, at most `limit`. */
export async function listAuditEntries(
  db: Database,
  merchantId: MerchantId,
  filter: AuditFilter,
  limit: number,
): Promise<Page<ListedAuditEntry>> {
  const { items, nextBefore } = await listRows(db, merchantId, filter, limit);
  const people = items.map(({ userId }) => userId);
  const names = await findNames(db, merchantId, people, []);
  const shown = items.map((entry) => ({
    ...entry,
    user: entry.userId && names.person(entry.userId),
    after: shownToMerchant(entry),
  }));
  return { items: shown, nextBefore };
}

export type RecordExport = ByPerson & {
  /** The exported dataset. */
  readonly dataset: 'collections' | 'payouts' | 'ledger';
  /** The filters, without personal values. */
  readonly filters: object;
};

/** Records an export by a person, one entry per call. Call it before the first row is sent: no record, no export. */
export async function recordExport(db: Database, { by, dataset, filters, at }: RecordExport): Promise<void> {
  await db.withTransaction((tx) =>
    recordAct(tx, by, { action: `${dataset}.exported`, subjectId: null, after: filters, at }),
  );
}

/** Records a person's refusal: as an entry or, beyond the hourly limit of its kind, in the count of a later one. */
export async function recordRefusal(db: Database, { by, ...refusal }: Refusal & Pick<ByPerson, 'by'>): Promise<void> {
  await db.withTransaction((tx) => record(tx, by, refusal));
}

/**
 * Records how many refusals of people exceeded the entries of their hour: for at most `limit` completed hours, in one
 * transaction. Returns the number of hours. Call it again until it returns 0.
 */
export async function recordLeftOutRefusals(db: Database, at: Date, limit: number): Promise<number> {
  return db.withTransaction((tx) => recordEndedRefusals(tx, at, limit));
}

// Reads a merchant's audit log, and records in it what people were refused and what they exported.
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
  /** What was exported. */
  readonly dataset: 'collections' | 'payouts' | 'ledger';
  /** The filters, without what they say about somebody. */
  readonly filters: object;
};

/** Records that a person exported data. Each call adds one entry. Call it before the first row leaves: what cannot be recorded is not exported. */
export async function recordExport(db: Database, { by, dataset, filters, at }: RecordExport): Promise<void> {
  await db.withTransaction((tx) =>
    recordAct(tx, by, { action: `${dataset}.exported`, subjectId: null, after: filters, at }),
  );
}

/** Records that a person was refused. Each call adds an entry or, after so many of its kind in an hour, is counted for one that follows. */
export async function recordRefusal(db: Database, { by, ...refusal }: Refusal & Pick<ByPerson, 'by'>): Promise<void> {
  await db.withTransaction((tx) => record(tx, by, refusal));
}

/**
 * Adds how many refusals of people an hour had beside those that have entries of their own: for at most `limit` hours that are over, in one
 * transaction; returns how many there were. Call it again until it returns 0.
 */
export async function recordLeftOutRefusals(db: Database, at: Date, limit: number): Promise<number> {
  return db.withTransaction((tx) => recordEndedRefusals(tx, at, limit));
}

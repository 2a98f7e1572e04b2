// Reads the statement of a merchant's accounts.
import type { Database } from '../../db/platform/database.ts';
import { readPage, type Page } from '../../db/platform/page.ts';
import { listLedgerEntries as listRows, type LedgerEntryFilter } from '../../db/payments/ledger-entry.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { LedgerEntry } from '../../domain/payments/ledger-entry.ts';

/** The newest ledger entries that pass the filter, at most `limit`. Another merchant's payment in the filter gives an empty page. */
export async function listLedgerEntries(
  db: Database,
  merchantId: MerchantId,
  filter: LedgerEntryFilter,
  limit: number,
): Promise<Page<LedgerEntry>> {
  return readPage(limit, (count) => listRows(db, merchantId, filter, count));
}

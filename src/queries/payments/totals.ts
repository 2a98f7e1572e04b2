// Reads the totals of a merchant's payments by day and state.
import type { Database } from '../../db/database.ts';
import { findDayRange, listDayTotals } from '../../db/payments/totals.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { DayTotal } from '../../domain/payments/totals.ts';

/** Both days inclusive, as `YYYY-MM-DD`, by the clocks of this time zone. */
export type DayRange = { readonly from: string; readonly to: string; readonly timeZone: string };

/** The totals of the payments that were created on these days, newest first, exact as of one instant. */
export async function getDayTotals(db: Database, merchantId: MerchantId, range: DayRange): Promise<DayTotal[]> {
  return listDayTotals(db, merchantId, await findDayRange(db, range), range.timeZone);
}

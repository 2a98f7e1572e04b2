// Reads the totals of a merchant's payments by day and state.
import type { Database } from '../../db/platform/database.ts';
import { listDayTotals } from '../../db/payments/totals.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { DayTotal } from '../../domain/payments/totals.ts';
import { clocksOf, daysBetween } from '../../domain/time-zone.ts';

/** The totals of the payments that were created on these days, both inclusive, newest first, exact as of one instant. */
export async function getDayTotals(
  db: Database,
  merchantId: MerchantId,
  { from, to, timeZone }: { readonly from: string; readonly to: string; readonly timeZone: string },
): Promise<DayTotal[]> {
  return listDayTotals(db, merchantId, daysBetween(clocksOf(timeZone), { from, to }));
}

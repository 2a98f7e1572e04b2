// Brings a payment whose end is recorded back to the sweep, which has it looked at again.
import type { Database } from '../../db/database.ts';
import type { EndedPayment } from '../../db/payments/discrepancy.ts';
import { scheduleRecheckAt } from '../../db/payments/recheck.ts';

/** The sweep looks at it at `dueAt`, or sooner if it was to. Nothing happens to what has not ended. */
export async function scheduleRecheck(db: Database, { table, id }: EndedPayment, dueAt: Date): Promise<void> {
  await scheduleRecheckAt(db, { table, id }, dueAt);
}

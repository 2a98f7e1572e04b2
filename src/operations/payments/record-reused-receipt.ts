// Records that an operator gave one receipt for two payments.
import type { Database } from '../../db/platform/database.ts';
import { insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';

export type RecordReusedReceipt = { readonly ref: PaymentRef; readonly operatorReceipt: string; readonly at: Date };

/** One transaction records it as a discrepancy of the second payment, once however often it is found. True the first time. */
export async function recordReusedReceipt(
  db: Database,
  { ref, operatorReceipt, at }: RecordReusedReceipt,
): Promise<boolean> {
  return db.withTransaction((tx) =>
    insertDiscrepancy(tx, ref, { kind: 'receipt_reused', operatorReceipt, reported: null, foundAt: at }),
  );
}

// Records that a payment is released in the database, and that no process of ours recorded its release.
import type { Database } from '../../db/platform/database.ts';
import { hasOpenDiscrepancy, insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';

export type RecordUnattestedRelease = { readonly ref: PaymentRef; readonly at: Date };

/** `isOpen`: nobody has settled it yet. */
export type FoundUnattestedRelease = { readonly isNew: boolean; readonly isOpen: boolean };

/** One transaction records it as a discrepancy, once however often it is found. It moves no money: a person settles it. */
export async function recordUnattestedRelease(
  db: Database,
  { ref, at }: RecordUnattestedRelease,
): Promise<FoundUnattestedRelease> {
  const kind = 'release_unattested';
  return db.withTransaction(async (tx) => {
    const isNew = await insertDiscrepancy(tx, ref, { kind, operatorReceipt: null, reported: null, foundAt: at });
    return { isNew, isOpen: await hasOpenDiscrepancy(tx, ref.id, [kind]) };
  });
}

// Records contradictions to the recorded outcome or release of a payment, for a person to settle.
import { insertDiscrepancy, hasOpenDiscrepancy } from '../../db/payments/discrepancy.ts';
import { findPayment } from '../../db/payments/payment.ts';
import type { Database } from '../../db/platform/database.ts';
import { contradictionIn, type Contradiction } from '../../domain/payments/discrepancy.ts';
import type { QueriedStatus } from '../../domain/payments/operator-status.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';

type Found = { readonly ref: PaymentRef; readonly at: Date };

/**
 * Returns the contradiction and whether it is newly recorded. Null if the status does not contradict the current record: an operator
 * may report that a prompt expired and later that the payment was paid, and the earlier status is no contradiction. One transaction
 * records the contradiction, once however often it is found. The record moves no money: a person decides what follows.
 */
export async function recordDiscrepancy(
  db: Database,
  { ref, at, status, queriedAtMs }: Found & QueriedStatus,
): Promise<{ readonly kind: Contradiction; readonly isNew: boolean } | null> {
  return db.withTransaction(async (tx) => {
    const payment = await findPayment(tx, ref);
    const kind = payment && contradictionIn(ref.kind, payment.state, status);
    if (payment === null || kind === null) return null;
    if (kind === 'declined_after_paid' && queriedAtMs < payment.updatedAt.getTime()) return null;
    const operatorReceipt = 'operatorReceipt' in status ? status.operatorReceipt : null;
    const reported = 'reported' in status ? status.reported : null;
    const isNew = await insertDiscrepancy(tx, ref, { kind, operatorReceipt, reported, foundAt: at });
    return { kind, isNew };
  });
}

/** One transaction records a reused receipt as a discrepancy of the second payment, once however often it is found. True if new. */
export async function recordReusedReceipt(
  db: Database,
  { ref, at, operatorReceipt }: Found & { readonly operatorReceipt: string },
): Promise<boolean> {
  return db.withTransaction((tx) =>
    insertDiscrepancy(tx, ref, { kind: 'receipt_reused', operatorReceipt, foundAt: at }),
  );
}

/**
 * One transaction records an unattested release as a discrepancy, once however often it is found. `isOpen`: the discrepancy is not
 * settled. The record moves no money: a person settles the discrepancy.
 */
export async function recordUnattestedRelease(
  db: Database,
  { ref, at }: Found,
): Promise<{ readonly isNew: boolean; readonly isOpen: boolean }> {
  const kind = 'release_unattested';
  return db.withTransaction(async (tx) => {
    const isNew = await insertDiscrepancy(tx, ref, { kind, foundAt: at });
    return { isNew, isOpen: await hasOpenDiscrepancy(tx, ref.id, [kind]) };
  });
}

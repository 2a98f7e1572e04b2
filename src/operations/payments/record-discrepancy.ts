// Records that an operator status contradicts the recorded outcome of a payment.
import { findCollection } from '../../db/payments/collection.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { findReversal } from '../../db/payments/reversal.ts';
import { contradictionIn, type Contradiction } from '../../domain/payments/discrepancy.ts';
import type { OperatorStatus } from '../../domain/payments/operator-status.ts';
import type { PaymentRef, PaymentState } from '../../domain/payments/payment.ts';

export type RecordDiscrepancy = {
  readonly ref: PaymentRef;
  readonly status: OperatorStatus;
  readonly queriedAtMs: number;
  readonly at: Date;
};

export type FoundDiscrepancy = { readonly kind: Contradiction; readonly isNew: boolean };

/**
 * Returns the contradiction, and whether it is the first of its kind, or null when the status contradicts nothing that is
 * recorded now: an operator may say that a prompt expired, and that it was paid later, and the earlier of the two contradicts
 * nothing. One transaction records it, once however often it is found. It moves no money: a person decides what follows.
 */
export async function recordDiscrepancy(
  db: Database,
  { ref, status, queriedAtMs, at }: RecordDiscrepancy,
): Promise<FoundDiscrepancy | null> {
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

type Found = { readonly state: PaymentState; readonly updatedAt: Date };

async function findPayment(tx: Tx, ref: PaymentRef): Promise<Found | null> {
  switch (ref.kind) {
    case 'collection':
      return findCollection(tx, ref.merchantId, ref.id);
    case 'payout':
      return findPayout(tx, ref.merchantId, ref.id);
    case 'reversal':
      return findReversal(tx, ref.merchantId, ref.id);
  }
}

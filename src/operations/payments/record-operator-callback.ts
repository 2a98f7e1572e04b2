// Stores an operator's callback, and finds the payment that it is about.
import type { Database } from '../../db/database.ts';
import { findCollectionByOperatorReference } from '../../db/payments/collection.ts';
import { insertOperatorCallback } from '../../db/payments/operator-callback.ts';
import { scheduleRecheck } from '../../db/payments/payment-progress.ts';
import { findPayoutByOperatorReference } from '../../db/payments/payout.ts';
import { findReversalByOperatorReference } from '../../db/payments/reversal.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { isRecheckable } from '../../domain/payments/payment.ts';
import type { PaymentWork } from '../../domain/work.ts';

/** A real operator calls back once or a few times; further callbacks are not stored. */
const MOST_PER_PAYMENT = 20;
/** Leaves time for the workflow that the callback starts to query the operator first. */
const RECHECK_AFTER_MS = 60_000;

export type RecordOperatorCallback = {
  readonly operator: OperatorId;
  readonly operatorReference: string;
  readonly body: string;
  readonly contentType: string;
  readonly sourceAddress: string;
  readonly receivedAt: Date;
};

/**
 * Returns the payment and whether this callback is stored, or null for a reference that is not ours: nothing is stored
 * then, because anyone can call and must not fill the disk. Changes no payment: a callback is only a hint.
 */
export async function recordOperatorCallback(
  db: Database,
  input: RecordOperatorCallback,
): Promise<{ payment: PaymentWork; isKept: boolean } | null> {
  const payment = await findPayment(db, input);
  if (payment === null) return null;
  // Nothing polls a final payment, and forged callbacks may have used up the number that is stored for it, so it is
  // rechecked too, once for any number of callbacks. A payment that failed is rechecked in that way alone.
  if (isRecheckable(payment.state)) {
    const delayMs = payment.state === 'succeeded' ? RECHECK_AFTER_MS : 0;
    await scheduleRecheck(db, payment, new Date(input.receivedAt.getTime() + delayMs));
  }
  const { isKept } = await insertOperatorCallback(db, { ...input, payment }, MOST_PER_PAYMENT);
  return { payment, isKept };
}

// The most frequent kind first.
async function findPayment(
  db: Database,
  { operator, operatorReference }: RecordOperatorCallback,
): Promise<PaymentWork | null> {
  const collection = await findCollectionByOperatorReference(db, operator, operatorReference);
  if (collection) return { kind: 'collection', ...collection };
  const payout = await findPayoutByOperatorReference(db, operator, operatorReference);
  if (payout) return { kind: 'payout', ...payout };
  const reversal = await findReversalByOperatorReference(db, operator, operatorReference);
  return reversal && { kind: 'reversal', ...reversal };
}

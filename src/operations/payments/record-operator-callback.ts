// Stores an operator's callback, and finds its payment.
import type { Database } from '../../db/platform/database.ts';
import {
  insertOperatorCallback,
  insertUnmatchedCallback,
  recordCallbackOfCollection,
  type ReferringCallback,
} from '../../db/payments/operator-callback.ts';
import { scheduleQuery } from '../../db/payments/payment-progress.ts';
import { findPayoutByOperatorReference } from '../../db/payments/payout.ts';
import { findReversalByOperatorReference } from '../../db/payments/reversal.ts';
import { isFinal, isQueriedAfterCallback } from '../../domain/payments/payment.ts';
import type { PaymentWork } from '../../domain/work.ts';

/** A real operator calls back once or a few times; further callbacks are not stored. */
const MOST_PER_PAYMENT = 20;
const FIRST_QUERY_GAP_MS = 60_000;
const LONGEST_QUERY_GAP_MS = 24 * 60 * FIRST_QUERY_GAP_MS;

export type RecordOperatorCallback = ReferringCallback & {
  /** Whether the callback came to an address that we gave to the operator for this reference. */
  readonly isProven: boolean;
};

/**
 * Returns the payment and whether this callback is stored. Null payment: no payment with the reference is on record. Such a callback is
 * stored only if its address proves that the payment was on record, because after a loss the callback may be the payment's only trace.
 * Other unmatched callbacks are not stored, because anyone can call and must not fill the disk. Changes no payment: a callback is only
 * a hint.
 */
export async function recordOperatorCallback(
  db: Database,
  input: RecordOperatorCallback,
): Promise<{ payment: PaymentWork | null; isKept: boolean }> {
  // Collections are the most frequent kind.
  const recorded = await recordCallbackOfCollection(db, input, MOST_PER_PAYMENT);
  const payment = recorded ? recorded.collection : await findSent(db, input);
  if (payment === null) {
    const isKept = input.isProven && (await insertUnmatchedCallback(db, input, MOST_PER_PAYMENT)).isKept;
    return { payment, isKept };
  }
  if (recorded && !isFinal(payment.state)) return { payment, isKept: recorded.isKept };
  const callback = { ...input, payment };
  if (!isQueriedAfterCallback(payment.kind, payment.state)) {
    const { isKept } = await insertOperatorCallback(db, callback, MOST_PER_PAYMENT);
    return { payment, isKept };
  }
  return db.withTransaction(async (tx) => {
    const { isKept, storedBefore } = await insertOperatorCallback(tx, callback, MOST_PER_PAYMENT);
    const dueAt = new Date(input.receivedAt.getTime() + queryGapMs(payment.state, storedBefore));
    await scheduleQuery(tx, payment, dueAt);
    return { payment, isKept };
  });
}

// One query of a final payment serves all callbacks before it. The first callback about a failed payment, and the first two about any
// other payment, which usually had one before it became final, lead to a query at once. Each further callback doubles the wait, so that
// repeated callbacks cause some twenty queries per payment, and then one a day. Forged callbacks that use up the stored number do not
// hide a later true callback.
function queryGapMs(state: PaymentWork['state'], storedBefore: number): number {
  const step = storedBefore - (state === 'failed' ? 1 : 2);
  return step < 0 ? 0 : Math.min(FIRST_QUERY_GAP_MS * 2 ** step, LONGEST_QUERY_GAP_MS);
}

async function findSent(db: Database, { operator, operatorReference }: ReferringCallback): Promise<PaymentWork | null> {
  const payout = await findPayoutByOperatorReference(db, operator, operatorReference);
  return payout ?? findReversalByOperatorReference(db, operator, operatorReference);
}

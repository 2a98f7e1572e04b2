// Stores an operator's callback, and finds the payment that it is about.
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
  /** Whether it came to an address that we gave to the operator for this reference. */
  readonly isProven: boolean;
};

/**
 * Returns the payment and whether this callback is stored. Null payment: none with the reference is on record. The callback is stored
 * then if its address proves that one was, because after a loss it may be the only trace of it; else it is not, because anyone can
 * call and must not fill the disk. Changes no payment: a callback is only a hint.
 */
export async function recordOperatorCallback(
  db: Database,
  input: RecordOperatorCallback,
): Promise<{ payment: PaymentWork | null; isKept: boolean }> {
  // The most frequent kind first.
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

// A final payment is queried once for all callbacks that come before that. The first callbacks have it queried at once: of a payment
// that failed the first, of any other the first two, because it has usually had one by then. Each further one has it queried after twice
// the time, so that whoever repeats callbacks costs a payment some twenty queries, and then one a day: forged ones that used up the
// number that is stored do not hide the true one that follows.
function queryGapMs(state: PaymentWork['state'], storedBefore: number): number {
  const step = storedBefore - (state === 'failed' ? 1 : 2);
  return step < 0 ? 0 : Math.min(FIRST_QUERY_GAP_MS * 2 ** step, LONGEST_QUERY_GAP_MS);
}

async function findSent(db: Database, { operator, operatorReference }: ReferringCallback): Promise<PaymentWork | null> {
  const payout = await findPayoutByOperatorReference(db, operator, operatorReference);
  return payout ?? findReversalByOperatorReference(db, operator, operatorReference);
}

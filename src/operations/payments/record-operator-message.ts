// Stores what came to an address that we gave to an operator for one payment or query. What follows from it a worker decides.
import {
  findQueriedPayment,
  insertMessage,
  noteQueryAnswered,
  type NewMessage,
} from '../../db/payments/operator-message.ts';
import { findPayment, findPaymentByOperatorReference } from '../../db/payments/payment.ts';
import { scheduleQuery } from '../../db/payments/payment-progress.ts';
import type { Database, Tx } from '../../db/platform/database.ts';
import { isFinal, isQueriedAfterCallback, type Payment } from '../../domain/payments/payment.ts';

/** An operator sends one or two; more are not stored. Each query has an address of its own. */
const MOST_PER_ADDRESS = 20;

export type RecordOperatorMessage = Omit<NewMessage, 'queryId'> & {
  /** For which the address was made: the reference of the payment or, of an answer, the id of the query. */
  readonly addressId: string;
};

/**
 * One transaction. Returns the payment, null if it is not on record, and whether the message is stored. It changes no payment; the worker
 * reads it when the workflow is signalled of it or, of a final payment, with the status query that is due at once.
 */
export async function recordOperatorMessage(
  db: Database,
  { addressId, ...input }: RecordOperatorMessage,
): Promise<{ readonly payment: Payment | null; readonly isKept: boolean }> {
  const isAnswer = input.purpose === 'query';
  const message = { ...input, queryId: isAnswer ? addressId : null };
  return db.withTransaction(async (tx) => {
    const payment = isAnswer
      ? await findQueried(tx, message.operator, addressId)
      : await findPaymentByOperatorReference(tx, message.operator, addressId);
    const subject = payment ? { paymentId: payment.id } : { unmatched: addressId };
    const isKept = await insertMessage(tx, subject, message, MOST_PER_ADDRESS);
    if (payment === null || !isKept) return { payment, isKept };
    if (isAnswer) await noteQueryAnswered(tx, addressId, message.receivedAt);
    if (isFinal(payment.state) && isQueriedAfterCallback(payment.kind, payment.state)) {
      await scheduleQuery(tx, payment, message.receivedAt);
    }
    return { payment, isKept };
  });
}

async function findQueried(tx: Tx, operator: NewMessage['operator'], queryId: string): Promise<Payment | null> {
  const ref = await findQueriedPayment(tx, operator, queryId);
  return ref && findPayment(tx, ref);
}

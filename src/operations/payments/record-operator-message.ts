// Stores messages that come to an address that we gave to an operator for one payment or query. A worker decides what to do with them.
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

/** An operator sends one or two messages to an address; further messages are not stored. Each query has its own address. */
const MOST_PER_ADDRESS = 20;

export type RecordOperatorMessage = Omit<NewMessage, 'queryId'> & {
  /** The id in the address: the operator reference of the payment or, for an answer, the id of the query. */
  readonly addressId: string;
};

/**
 * One transaction stores the message. Returns the payment, null if it is not on record, and whether the message is stored. Changes no
 * payment: the worker reads the message after the workflow's signal or, for a final payment, with the status query that is due at once.
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

// One payment as the sandbox operator knows it: what it keeps, how it changes, and how the wire shows it.
import { z } from 'zod';
import type { Ending } from './behaviours.ts';

const reason = z.object({ code: z.string(), message: z.string() });

/** Also the form of a journal line, so it is checked when it is read back. */
export const transactionSchema = z.object({
  operatorReference: z.string(),
  phone: z.string(),
  amount: z.string(),
  currency: z.string(),
  externalId: z.string().nullable(),
  payerMessage: z.string(),
  payeeNote: z.string(),
  callbackUrl: z.string().nullable(),
  /** The row of the table of endings that it fell under when it was made. */
  row: z.string(),
  /** NOT_TAKEN: asked for, but every request was turned away so far. */
  state: z.enum(['NOT_TAKEN', 'PENDING', 'SUCCESSFUL', 'FAILED']),
  reason: reason.nullable(),
  /** Given when the request is taken, shown when it is paid: a decision made again after a crash is the same one. */
  financialTransactionId: z.string(),
  receivedAtMs: z.number(),
  dueAtMs: z.number().nullable(),
  decidedAtMs: z.number().nullable(),
  requestsReceived: z.int(),
  promptsRaised: z.int(),
  callbacksSent: z.int(),
  callbackResults: z.array(z.object({ atMs: z.number(), result: z.string() })),
});

export type Transaction = Readonly<z.infer<typeof transactionSchema>>;

/** What a client asked for. */
export type Order = Pick<
  Transaction,
  'operatorReference' | 'phone' | 'amount' | 'currency' | 'externalId' | 'payerMessage' | 'payeeNote' | 'callbackUrl'
>;

export function decide(transaction: Transaction, ending: Ending, atMs: number): Transaction {
  return {
    ...transaction,
    state: ending.status,
    reason: ending.status === 'FAILED' ? ending.reason : null,
    decidedAtMs: atMs,
    dueAtMs: null,
  };
}

/** The body of a status answer and of a callback. Fields that have no value yet are left out, as MTN does. */
export function toWire(transaction: Transaction): Record<string, unknown> {
  const { amount, currency, externalId, phone, payerMessage, payeeNote, state, financialTransactionId } = transaction;
  return {
    ...(state === 'SUCCESSFUL' && { financialTransactionId }),
    ...(externalId !== null && { externalId }),
    amount,
    currency,
    payer: { partyIdType: 'MSISDN', partyId: phone },
    payerMessage,
    payeeNote,
    status: state,
    ...(transaction.reason !== null && { reason: transaction.reason }),
  };
}

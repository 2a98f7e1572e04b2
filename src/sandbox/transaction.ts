// One payment as the sandbox operator knows it: what it keeps, how it changes, and how the wire shows it.
import { z } from 'zod';
import { GIVEN_BACK, type Ending } from './behaviours.ts';

const reason = z.object({ code: z.string(), message: z.string() });

/** Also the form of a journal line, so it is checked when it is read back; what older lines do not have has a default. */
export const transactionSchema = z.object({
  kind: z.enum(['collection', 'payout', 'refund']).default('collection'),
  operatorReference: z.string(),
  /** The collection that a refund is of. */
  originalReference: z.string().nullable().default(null),
  /** The payer's; of a payout or refund the payee's. */
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
  /** Given when the request is taken, shown once it was paid: a decision made again after a crash is the same one. */
  financialTransactionId: z.string(),
  receivedAtMs: z.number(),
  /** When it is decided, or when it is given back after that. */
  dueAtMs: z.number().nullable(),
  decidedAtMs: z.number().nullable(),
  givenBackAtMs: z.number().nullable().default(null),
  requestsReceived: z.int(),
  /** Collections only: how often the payer's phone rang. */
  promptsRaised: z.int(),
  /** Payouts and refunds only: how often one was taken to be paid. */
  transfersAccepted: z.int().default(0),
  callbacksSent: z.int(),
  callbackResults: z.array(z.object({ atMs: z.number(), result: z.string() })),
});

export type Transaction = Readonly<z.infer<typeof transactionSchema>>;

/** What a client asked for. */
export type Order = Pick<
  Transaction,
  | 'kind'
  | 'operatorReference'
  | 'originalReference'
  | 'phone'
  | 'amount'
  | 'currency'
  | 'externalId'
  | 'payerMessage'
  | 'payeeNote'
  | 'callbackUrl'
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

/** It was paid and is no more; the receipt stays, which says that it was. */
export function giveBack(transaction: Transaction, atMs: number): Transaction {
  const { decidedAtMs } = transaction;
  return { ...decide(transaction, GIVEN_BACK, atMs), decidedAtMs, givenBackAtMs: atMs };
}

/** The body of a status answer and of a callback. Fields that have no value yet are left out, as MTN does. */
export function toWire(transaction: Transaction): Record<string, unknown> {
  const { kind, amount, currency, externalId, phone, payerMessage, payeeNote, state } = transaction;
  const { financialTransactionId, givenBackAtMs } = transaction;
  const party = { partyIdType: 'MSISDN', partyId: phone };
  return {
    ...((state === 'SUCCESSFUL' || givenBackAtMs !== null) && { financialTransactionId }),
    ...(externalId !== null && { externalId }),
    amount,
    currency,
    ...(kind === 'collection' ? { payer: party } : { payee: party }),
    payerMessage,
    payeeNote,
    status: state,
    ...(transaction.reason !== null && { reason: transaction.reason }),
  };
}

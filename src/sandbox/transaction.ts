// One payment at the sandbox operator: its stored fields, its changes, and its form on the wire.
import { z } from 'zod';
import { behaviourOf, GIVEN_BACK, type Outcome } from './behaviours.ts';

const reason = z.object({ code: z.string(), message: z.string() });

/** Also the format of journal lines, checked on reading: names stay, and new fields have a default. */
export const transactionSchema = z.object({
  kind: z.enum(['collection', 'payout', 'refund']).default('collection'),
  /** The API that received the payment. */
  wire: z.enum(['mtn-momo', 'airtel-money', 'daraja']).default('mtn-momo'),
  /**
   * For a prompt of M-Pesa its CheckoutRequestID, because two prompts with the same reference are two payments. For a refund of Airtel, which
   * has no id, the id of its collection after a prefix.
   */
  operatorReference: z.string(),
  /** M-Pesa only: CheckoutRequestID or ConversationID. */
  issuedId: z.string().nullable().default(null),
  /** Prompts of M-Pesa only: MerchantRequestID. */
  requestId: z.string().nullable().default(null),
  /** Refunds only: the collection. */
  originalReference: z.string().nullable().default(null),
  /** The payer's phone; for payouts and refunds the payee's. */
  phone: z.string(),
  amount: z.string(),
  currency: z.string(),
  externalId: z.string().nullable(),
  payerMessage: z.string(),
  payeeNote: z.string(),
  callbackUrl: z.string().nullable(),
  /** Payouts of M-Pesa only: the address for the message that a payment waits in the queue for too long. */
  timeoutUrl: z.string().nullable().default(null),
  queueTimedOutAtMs: z.number().nullable().default(null),
  /** Why the operator fails the payment, whatever the outcome table says of its phone. */
  refusedAs: reason.nullable().default(null),
  /** The row of the outcome table when the payment was created. */
  row: z.string(),
  /** NOT_ACCEPTED: requested, but not accepted yet. */
  state: z.enum(['NOT_ACCEPTED', 'PENDING', 'SUCCESSFUL', 'FAILED']),
  reason: reason.nullable(),
  /**
   * The receipt: set when the request is accepted and shown when it is paid, so that a decision repeated after a crash has the same one.
   */
  financialTransactionId: z.string(),
  receivedAtMs: z.number(),
  /** When the payment is decided, or given back after its decision. */
  dueAtMs: z.number().nullable(),
  decidedAtMs: z.number().nullable(),
  givenBackAtMs: z.number().nullable().default(null),
  requestsReceived: z.int(),
  /** Counts queries only if the operator does not know the payment at first, or sends unreadable answers. */
  queriesReceived: z.int().default(0),
  /** Collections only: how often a prompt was raised on the payer's phone. */
  promptsRaised: z.int(),
  /** Payouts and refunds only: how often a transfer was accepted. */
  transfersTaken: z.int().default(0),
  callbacksSent: z.int(),
  callbackResults: z.array(z.object({ atMs: z.number(), result: z.string() })),
});

export type Transaction = Readonly<z.infer<typeof transactionSchema>>;

export type SandboxRequest = Pick<
  Transaction,
  | 'kind'
  | 'wire'
  | 'operatorReference'
  | 'originalReference'
  | 'phone'
  | 'amount'
  | 'currency'
  | 'externalId'
  | 'payerMessage'
  | 'payeeNote'
  | 'callbackUrl'
> &
  Partial<Pick<Transaction, 'issuedId' | 'requestId' | 'timeoutUrl' | 'refusedAs'>>;

export function decide(transaction: Transaction, ending: Outcome, atMs: number): Transaction {
  return {
    ...transaction,
    state: ending.status,
    reason: ending.status === 'FAILED' ? ending.reason : null,
    decidedAtMs: atMs,
    dueAtMs: null,
  };
}

/** Whether the operator's next message about the payment is that it waits for too long. */
export function waitsInQueue(transaction: Transaction): boolean {
  const { timeoutUrl, queueTimedOutAtMs, refusedAs } = transaction;
  const isReported = timeoutUrl !== null && behaviourOf(transaction).behaviour.timesOutInQueue === true;
  return isReported && queueTimedOutAtMs === null && refusedAs === null;
}

/** The amount with one whole unit more. */
export function oneMore(amount: string): string {
  const [whole = '', ...fraction] = amount.split('.');
  return [(BigInt(whole) + 1n).toString(), ...fraction].join('.');
}

/** The payment is reversed. Its receipt stays, as proof that it was paid. */
export function giveBack(transaction: Transaction, atMs: number): Transaction {
  const { decidedAtMs } = transaction;
  return { ...decide(transaction, GIVEN_BACK, atMs), decidedAtMs, givenBackAtMs: atMs };
}

/** The body of a status response and of a callback of MTN. Fields without a value are left out, as MTN does. */
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

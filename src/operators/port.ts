// The operator port: what Malipo needs of a mobile-money operator, whatever its API.
import type { Trouble } from '../domain/payments/breaker.ts';
import type { FailureCode } from '../domain/payments/failure.ts';
import type { Money } from '../domain/money.ts';
import type { MessagePurpose, OperatorId } from '../domain/payments/operator-catalogue.ts';
import type { PaymentKind } from '../domain/payments/payment.ts';

export type { MessagePurpose };

export type PromptRequest = {
  /** UUID v4, recorded before the first send and the same on every retry: the operator's own idempotency key. */
  readonly operatorReference: string;
  /** International digits without plus sign. */
  readonly phone: string;
  readonly money: Money;
  /** Shown to the payer on the handset; adapters shorten and clean it for their API. */
  readonly payerMessage: string;
};

export type PayoutRequest = {
  /** UUID v4, recorded before the first send and the same on every retry: the operator's own idempotency key. */
  readonly operatorReference: string;
  readonly phone: string;
  readonly money: Money;
  /** Shown to the payee with the money; adapters shorten and clean it for their API. */
  readonly payeeMessage: string;
};

export type RefundRequest = {
  /** The refund's own UUID v4, not its collection's; recorded before the first send and the same on every retry, as for a payout. */
  readonly operatorReference: string;
  /** The reference under which the collection was requested. */
  readonly originalOperatorReference: string;
  /** The operator's receipt of the collection; null if none is on record. */
  readonly originalReceipt: string | null;
  readonly money: Money;
  /** Shown to the payer with the money that comes back. */
  readonly note: string;
};

/**
 * `isUnprocessed`: the operator did nothing with the call, because its answer precedes processing or nothing was sent. So even a product
 * whose sends are made once may send again. Absent: the operator may have processed the call.
 */
type Unanswered = {
  readonly kind: 'unknown';
  readonly reason: string;
  readonly cause?: Trouble;
  readonly isUnprocessed?: true;
};

/** `isFloatLow`: the operator refuses a payout or refund only because our own float is too low, and takes a new one later. */
type Cause = { readonly isFloatLow?: true };

/**
 * The outcome of a send. `refused` is final for this payment. `unknown` means that the operator may or may not have accepted it; `unknown`
 * fails no payment, whatever its cause.
 */
export type SendOutcome =
  /** `isRepeated`: the operator says that it already had the reference. `issuedId`: the operator's own id of the payment. */
  | { readonly kind: 'accepted'; readonly isRepeated?: true; readonly issuedId?: string }
  | ({ readonly kind: 'refused'; readonly code: FailureCode; readonly operatorCode: string } & Cause)
  | Unanswered;

/** The money that was paid, as the operator reports it: a decimal string in whole units, and an ISO 4217 code. */
export type Paid = { readonly amount: string; readonly currency: string };

/** Further data that the operator reports; a field that it omits, or that cannot be read, is absent. A hidden digit of a phone is `*`. */
export type Reported = { readonly phone?: string; readonly money?: Paid };

/** The report of a paid payment; `paid` is absent if the operator's statuses name no amount. */
type ReportedPaid = { readonly paid?: Paid } & Pick<Reported, 'phone'>;

/**
 * The outcome of a status query. `unknown`: the operator gave no usable answer about this payment; `not_found`: it never
 * accepted the payment. An answer with our reference proves that the operator has the payment, even if the rest cannot be read. The
 * caller must compare the reported data with the request (`operatorStatusOf`).
 */
export type StatusOutcome =
  | ({ readonly kind: 'pending' } & Reported)
  /** The receipt is null only if the operator's statuses name none (`statusSays` of the catalogue). */
  | ({ readonly kind: 'succeeded'; readonly receipt: string | null } & ReportedPaid)
  | ({ readonly kind: 'failed'; readonly code: FailureCode; readonly operatorCode: string } & Cause & Reported)
  /**
   * The operator has returned the money: a collection reversed, a payout returned. Without a receipt, only our records can prove that the
   * payment was paid.
   */
  | ({ readonly kind: 'returned'; readonly receipt: string | null } & ReportedPaid)
  /** The payment was paid, and perhaps returned; its amount or receipt cannot be read. */
  | { readonly kind: 'paid_unreadable'; readonly receipt: string | null; readonly reason: string }
  /** The operator has the payment, and its status cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'not_found' }
  /** The operator took the query, and will answer at the address of the query. This outcome decides nothing. */
  | { readonly kind: 'asked' }
  | Unanswered;

/** A payment that was sent, as a status query names it. */
export type SentPayment = {
  readonly operatorReference: string;
  /** The operator's own id of the payment; null if the response with the id was lost, or the operator issues none. */
  readonly issuedId: string | null;
  /**
   * If the issued id is lost: the id in messages to the payment's own address, which say that the payment failed. Nothing proves that the
   * id belongs to this payment, so this id never proves a payment paid.
   */
  readonly namedId: string | null;
  /** When the last send began; null if no send began. */
  readonly sentAt: Date | null;
  /** The id of the recorded query, if the status comes by callback to an address made from this id. Null if it is not needed. */
  readonly queryId: string | null;
};

/** A refund that was sent, with its collection: an operator may report the refund as the collection's return. */
export type SentRefund = SentPayment & Pick<RefundRequest, 'originalOperatorReference'>;

/** Asks for one more call, before it is made: so many calls a second are granted to all processes. False: it must not be made now. */
export type MayCallAgain = () => Promise<boolean>;

/** A message to an address that we gave to an operator for one request, as far as it can be read. The message proves no origin. */
export type OperatorMessage = {
  readonly status: StatusOutcome;
  /** The ids of the payment that the message names; null if it names none. */
  readonly issuedId: string | null;
  readonly operatorReference: string | null;
};

/** The name under which the operator knows a phone. `unknown`: the operator gave no usable answer. */
export type NameOutcome = { readonly kind: 'named'; readonly name: string } | { readonly kind: 'unnamed' } | Unanswered;

/**
 * One operator. No method throws because of the network or the operator: such failures are outcomes. Every call has its own
 * timeout. If the catalogue calls a send idempotent, sending it again with the same reference never raises, pays or refunds twice.
 */
export type Operator = {
  readonly id: OperatorId;
  raisePrompt(request: PromptRequest): Promise<SendOutcome>;
  /** Makes one call, and asks for each further call. */
  getCollectionStatus(payment: SentPayment, mayCallAgain: MayCallAgain): Promise<StatusOutcome>;
  sendPayout(request: PayoutRequest): Promise<SendOutcome>;
  getPayoutStatus(payment: SentPayment): Promise<StatusOutcome>;
  /** Returns a paid collection's money to its payer. */
  refundCollection(request: RefundRequest): Promise<SendOutcome>;
  getRefundStatus(refund: SentRefund): Promise<StatusOutcome>;
  /** The name of the person who would be paid at this phone; null if the operator offers no such call. */
  readonly getPayeeName: ((phone: string) => Promise<NameOutcome>) | null;
  /** The reference in a callback, or null if it has none. A callback is a hint and never decides a payment. */
  parseCallback(body: unknown): { readonly operatorReference: string } | null;
  /**
   * A pure function that reads a message to an address of this purpose for a payment of this kind, and returns null if the message carries
   * no payment information. Null if the operator's callbacks are only hints.
   */
  readonly readMessage: ((purpose: MessagePurpose, body: unknown, kind: PaymentKind) => OperatorMessage | null) | null;
  close(): Promise<void>;
};

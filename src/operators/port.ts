// The operator port: what Malipo needs of a mobile-money operator, whatever its API.
import type { Trouble } from '../domain/payments/breaker.ts';
import type { FailureCode } from '../domain/payments/failure.ts';
import type { Money } from '../domain/money.ts';
import type { MessagePurpose, OperatorId } from '../domain/payments/operator-catalogue.ts';

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
  /** The refund's own UUID v4 and not its collection's; recorded first and the same on every retry, as for a payout. */
  readonly operatorReference: string;
  /** The reference under which the collection was requested. */
  readonly originalOperatorReference: string;
  readonly money: Money;
  /** Shown to the payer with the money that comes back. */
  readonly note: string;
};

/**
 * `isUnprocessed`: the operator did nothing with the call, because the answer precedes processing or nothing was sent. So even a product
 * whose sends are made once may send again. Absent: it may have been processed.
 */
type Unanswered = {
  readonly kind: 'unknown';
  readonly reason: string;
  readonly cause?: Trouble;
  readonly isUnprocessed?: true;
};

/**
 * The outcome of a send. `refused` is final for this payment. `unknown` means that the operator may or may not have accepted it; whatever
 * its cause, it fails no payment.
 */
export type SendOutcome =
  /** `isRepeated`: by the operator's word it had the reference already. `issuedId`: the operator's own id of the payment. */
  | { readonly kind: 'accepted'; readonly isRepeated?: true; readonly issuedId?: string }
  | { readonly kind: 'refused'; readonly code: FailureCode; readonly operatorCode: string }
  | Unanswered;

/** The money that was paid, as the operator reports it: a decimal string in whole units, and an ISO 4217 code. */
export type Paid = { readonly amount: string; readonly currency: string };

/** What else the operator says of a payment; absent what it does not say, or what cannot be read. A digit of a phone that it hides is `*`. */
export type Reported = { readonly phone?: string; readonly money?: Paid };

/** Of what was paid; `paid` is absent where the operator's statuses name no amount. */
type ReportedPaid = { readonly paid?: Paid } & Pick<Reported, 'phone'>;

/**
 * The outcome of a status query. `unknown`: the operator gave no usable answer about this payment; `not_found`: it never
 * accepted the payment. What names our reference says that it has the payment, whatever else cannot be read of it. The caller must
 * compare what is reported with what was requested (`operatorStatusOf`).
 */
export type StatusOutcome =
  | ({ readonly kind: 'pending' } & Reported)
  /** The receipt is null only where the operator's statuses name none (`statusSays` of the catalogue). */
  | ({ readonly kind: 'succeeded'; readonly receipt: string | null } & ReportedPaid)
  | ({ readonly kind: 'failed'; readonly code: FailureCode; readonly operatorCode: string } & Reported)
  /**
   * The operator has returned the money: a collection reversed, a payout returned. Without a receipt it proves that it was paid only
   * where that is on record.
   */
  | ({ readonly kind: 'returned'; readonly receipt: string | null } & ReportedPaid)
  /** It was paid, and perhaps returned; how much, or by which receipt, cannot be read. */
  | { readonly kind: 'paid_unreadable'; readonly receipt: string | null; readonly reason: string }
  /** The operator has it, and its status cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'not_found' }
  /** The operator took the question, and answers at the address of the query. This decides nothing. */
  | { readonly kind: 'asked' }
  | Unanswered;

/** A payment that was sent, as a status query names it. */
export type SentPayment = {
  readonly operatorReference: string;
  /** The operator's own id of the payment; null: the response that had it was lost, or the operator issues none. */
  readonly issuedId: string | null;
  /**
   * Where the issued id is lost: the one that messages to the payment's own address name, which say that it failed. Nobody proves that it is
   * this payment's: nothing is paid on it.
   */
  readonly namedId: string | null;
  /** When the last send began; null: none did. */
  readonly sentAt: Date | null;
  /** Of the recorded query, where the status comes by callback: the answer comes to an address made from it. Null: it is not needed. */
  readonly queryId: string | null;
};

/** What arrives at an address that we gave to an operator for one request, as far as it can be read. It proves no origin. */
export type OperatorMessage = {
  readonly status: StatusOutcome;
  /** Which payment it says that it is about; null where it does not say. */
  readonly issuedId: string | null;
  readonly operatorReference: string | null;
};

/** The name under which the operator knows a phone. `unknown`: it gave no usable answer. */
export type NameOutcome = { readonly kind: 'named'; readonly name: string } | { readonly kind: 'unnamed' } | Unanswered;

/**
 * One operator. No method throws because of the network or the operator: that is an outcome. Every call has its own
 * time-out. Where the catalogue calls a send idempotent, sending it again with the same reference never raises, pays or refunds twice.
 */
export type Operator = {
  readonly id: OperatorId;
  raisePrompt(request: PromptRequest): Promise<SendOutcome>;
  getCollectionStatus(payment: SentPayment): Promise<StatusOutcome>;
  sendPayout(request: PayoutRequest): Promise<SendOutcome>;
  getPayoutStatus(payment: SentPayment): Promise<StatusOutcome>;
  /** Returns a paid collection's money to its payer. */
  refundCollection(request: RefundRequest): Promise<SendOutcome>;
  /** The payment is the refund, not the collection. */
  getRefundStatus(payment: SentPayment): Promise<StatusOutcome>;
  /** The name of whoever would be paid at this phone; null where the operator offers no such call. */
  readonly getPayeeName: ((phone: string) => Promise<NameOutcome>) | null;
  /** The reference in a callback, or null when it has none. A callback is a hint and never decides a payment. */
  parseCallback(body: unknown): { readonly operatorReference: string } | null;
  /**
   * Reads what arrived at an address of this purpose, or null where it says nothing of a payment; a pure function. Null where the operator's
   * callbacks are hints only.
   */
  readonly readMessage: ((purpose: MessagePurpose, body: unknown) => OperatorMessage | null) | null;
  close(): Promise<void>;
};

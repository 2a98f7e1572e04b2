// The operator port: what Malipo needs of a mobile-money operator, whatever its API.
import type { Trouble } from '../domain/payments/breaker.ts';
import type { FailureCode } from '../domain/payments/failure.ts';
import type { Money } from '../domain/money.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';

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

type Unanswered = { readonly kind: 'unknown'; readonly reason: string; readonly cause?: Trouble };

/**
 * The outcome of a send. `refused` is final for this payment. `unknown` means that the operator may or may not have accepted it; whatever
 * its cause, it fails no payment.
 */
export type SendOutcome =
  /** `isRepeated`: by the operator's word it had the reference already. */
  | { readonly kind: 'accepted'; readonly isRepeated?: true }
  | { readonly kind: 'refused'; readonly code: FailureCode; readonly operatorCode: string }
  | Unanswered;

/** The money that was paid, as the operator reports it: a decimal string in whole units, and an ISO 4217 code. */
export type Paid = { readonly amount: string; readonly currency: string };

/** What else the operator says of a payment; absent what it does not say, or what cannot be read. */
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
  | ({ readonly kind: 'succeeded'; readonly receipt: string } & ReportedPaid)
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
  | Unanswered;

/** The name under which the operator knows a phone. `unknown`: it gave no usable answer. */
export type NameOutcome = { readonly kind: 'named'; readonly name: string } | { readonly kind: 'unnamed' } | Unanswered;

/**
 * One operator. No method throws because of the network or the operator: that is an outcome. Every call has its own
 * time-out. Sending a prompt, a payout or a refund again with the same reference never raises, pays or refunds twice.
 */
export type Operator = {
  readonly id: OperatorId;
  raisePrompt(request: PromptRequest): Promise<SendOutcome>;
  getCollectionStatus(operatorReference: string): Promise<StatusOutcome>;
  sendPayout(request: PayoutRequest): Promise<SendOutcome>;
  getPayoutStatus(operatorReference: string): Promise<StatusOutcome>;
  /** Returns a paid collection's money to its payer. */
  refundCollection(request: RefundRequest): Promise<SendOutcome>;
  /** `operatorReference` is the refund's, not the collection's. */
  getRefundStatus(operatorReference: string): Promise<StatusOutcome>;
  /** The name of whoever would be paid at this phone; null where the operator offers no such call. */
  readonly getPayeeName: ((phone: string) => Promise<NameOutcome>) | null;
  /** The reference in a callback, or null when it has none. A callback is a hint and never decides a payment. */
  parseCallback(body: unknown): { readonly operatorReference: string } | null;
  close(): Promise<void>;
};

// What Malipo needs of a mobile-money operator, whatever its wire looks like.
import type { FailureCode } from '../domain/payments/failure.ts';
import type { Money } from '../domain/money.ts';
import type { OperatorId } from '../domain/payments/operator-catalogue.ts';

export type PromptRequest = {
  /** UUID v4, recorded before the first send and the same on every retry: the operator's own idempotency key. */
  readonly operatorReference: string;
  /** International digits without plus sign. */
  readonly phone: string;
  readonly money: Money;
  /** Shown to the payer on the handset; adapters shorten and clean it for their wire. */
  readonly payerMessage: string;
};

export type PayoutRequest = {
  /** UUID v4, recorded before the first send and the same on every retry: the operator's own idempotency key. */
  readonly operatorReference: string;
  /** International digits without plus sign. */
  readonly phone: string;
  readonly money: Money;
  /** Shown to the payee beside the money; adapters shorten and clean it for their wire. */
  readonly payeeMessage: string;
};

export type RefundRequest = {
  /** The refund's own UUID v4 and not its collection's; recorded first and kept on every retry, as for a payout. */
  readonly operatorReference: string;
  /** The reference under which the collection was asked for. */
  readonly originalOperatorReference: string;
  readonly money: Money;
  /** Shown to the payer beside the money that comes back. */
  readonly note: string;
};

/** What we know after asking an operator to act. `unknown` means it may or may not have been taken. */
export type SendOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly code: FailureCode; readonly operatorCode: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** What was paid, by whomever, in the operator's own words: a decimal string in whole units, and an ISO 4217 code. */
export type Paid = { readonly amount: string; readonly currency: string };

/** What the operator says of a payment. `unknown` means that it could not be asked; `not_found` that it never took it. */
export type StatusOutcome =
  | { readonly kind: 'pending' }
  /** `paid` is for the caller to hold against what was asked (`isPaidAsAsked`) before money is booked. */
  | { readonly kind: 'succeeded'; readonly receipt: string; readonly paid: Paid }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly operatorCode: string }
  /** It was paid, and the operator has given the money back since: a collection reversed, a payout returned. */
  | { readonly kind: 'returned'; readonly receipt: string; readonly paid: Paid }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * One operator. No method throws for what the network or the operator does: that is an outcome. Every call has its own
 * time-out. Sending a prompt, a payout or a refund again with the same reference never raises, pays or refunds twice.
 */
export type Operator = {
  readonly id: OperatorId;
  raisePrompt(request: PromptRequest): Promise<SendOutcome>;
  getCollectionStatus(operatorReference: string): Promise<StatusOutcome>;
  sendPayout(request: PayoutRequest): Promise<SendOutcome>;
  getPayoutStatus(operatorReference: string): Promise<StatusOutcome>;
  /** Gives a paid collection's money back to its payer. */
  refundCollection(request: RefundRequest): Promise<SendOutcome>;
  /** `operatorReference` is the refund's, not the collection's. */
  getRefundStatus(operatorReference: string): Promise<StatusOutcome>;
  /** The reference a callback speaks of, or null when it names none. A callback is a hint, never a result. */
  parseCallback(body: unknown): { readonly operatorReference: string } | null;
  close(): Promise<void>;
};

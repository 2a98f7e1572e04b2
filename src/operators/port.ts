// What Malipo needs of a mobile-money operator, whatever its wire looks like.
import type { FailureCode } from '../domain/failure.ts';
import type { Money } from '../domain/money.ts';
import type { OperatorId } from '../domain/operator-catalogue.ts';

export type PromptRequest = {
  /** UUID v4, recorded before the first send and the same on every retry: the operator's own idempotency key. */
  readonly operatorReference: string;
  /** International digits without plus sign. */
  readonly phone: string;
  readonly money: Money;
  /** Shown to the payer on the handset; adapters shorten and clean it for their wire. */
  readonly payerMessage: string;
};

/** What we know after asking an operator to act. `unknown` means it may or may not have been taken. */
export type SendOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly code: FailureCode; readonly operatorCode: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** What the payer paid in the operator's own words: a decimal string in whole units, and an ISO 4217 code. */
export type Paid = { readonly amount: string; readonly currency: string };

/** What the operator says of a payment. `unknown` means that it could not be asked; `not_found` that it never took it. */
export type StatusOutcome =
  | { readonly kind: 'pending' }
  /** `paid` is for the caller to hold against what was asked (`isPaidAsAsked`) before money is booked. */
  | { readonly kind: 'succeeded'; readonly receipt: string; readonly paid: Paid }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly operatorCode: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * One operator. No method throws for what the network or the operator does: that is an outcome. Every call has its own
 * time-out. Sending a prompt again with the same reference never raises a second prompt.
 */
export type Operator = {
  readonly id: OperatorId;
  raisePrompt(request: PromptRequest): Promise<SendOutcome>;
  getCollectionStatus(operatorReference: string): Promise<StatusOutcome>;
  /** The reference a callback speaks of, or null when it names none. A callback is a hint, never a result. */
  parseCallback(body: unknown): { readonly operatorReference: string } | null;
  close(): Promise<void>;
};

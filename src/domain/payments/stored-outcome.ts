// The outcome of a request with an idempotency key: a stored response, and the payments that the request recorded or decided on.
import { errorBody, type DomainError } from '../errors.ts';
import { collectionObject } from './collection.ts';
import type { Payment } from './payment.ts';
import { payoutObject } from './payout.ts';
import { reversalObject } from './reversal.ts';

export type StoredResponse = { readonly status: number; readonly body: string };

export type StoredOutcome<Payments extends readonly Payment[] = readonly Payment[]> =
  | {
      readonly kind: 'accepted';
      readonly response: StoredResponse;
      /** The payments after the request. Their workflows must be started, or signalled that a decision was recorded. */
      readonly payments: Payments;
    }
  /** `refused`: only the response is recorded. `replayed`: the response was stored for the same request before. */
  | { readonly kind: 'refused' | 'replayed'; readonly response: StoredResponse };

/** The outcome of a request that recorded one payment, or decided on one. The response is the payment as merchants see it. */
export function accepted<Accepted extends Payment>(payment: Accepted, status: 200 | 202) {
  const response = { status, body: JSON.stringify(paymentObject(payment)) };
  return { kind: 'accepted', response, payments: [payment] } as const;
}

/** The outcome of a refused request. Every repetition gets the same refusal. */
export function refused(error: DomainError, requestId: string) {
  return { kind: 'refused', response: { status: 402, body: JSON.stringify(errorBody(error, requestId)) } } as const;
}

function paymentObject(payment: Payment): object {
  switch (payment.kind) {
    case 'collection':
      return collectionObject(payment);
    case 'payout':
      return payoutObject(payment);
    case 'reversal':
      return reversalObject(payment);
  }
}

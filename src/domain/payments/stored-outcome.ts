// What a request under an idempotency key leads to: a response that is stored, and the payments that it recorded or decided on.
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
      /** As they are afterwards. Their workflows are to be started, or signalled of the decision. */
      readonly payments: Payments;
    }
  /** `refused`: nothing but the response is recorded. `replayed`: the response was stored for this very request before. */
  | { readonly kind: 'refused' | 'replayed'; readonly response: StoredResponse };

/** Of a request that recorded one payment, or decided on it: the response is the payment as merchants see it. */
export function accepted<Accepted extends Payment>(payment: Accepted, status: 200 | 202) {
  const response = { status, body: JSON.stringify(paymentObject(payment)) };
  return { kind: 'accepted', response, payments: [payment] } as const;
}

/** Of a request that is refused as often as it is repeated. */
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

// Builds collections for unit tests: valid, with the fields that the test replaces.
import type { Collection } from '../../../src/domain/payments/collection.ts';
import type { PaymentKind } from '../../../src/domain/payments/payment.ts';
import type { PaymentRequest } from '../../../src/domain/payments/payment-request.ts';
import { newId } from '../../../src/domain/ids.ts';

/** Whole, as a collection or a payout is requested. */
export const REQUEST: PaymentRequest = {
  phone: '256772000100',
  amountMinor: 5000n,
  reference: 'INV-1',
  currency: null,
  description: null,
  metadata: {},
};

export const AT = new Date('2026-01-31T12:00:00.000Z');

/** What every payment starts with, of whatever kind. */
export const anyPayment = <Kind extends PaymentKind, Prefix extends 'col' | 'pay' | 'rev', State extends string>(
  kind: Kind,
  prefix: Prefix,
  state: State,
) =>
  ({
    kind,
    id: newId(prefix),
    state,
    merchantId: newId('mer'),
    amountMinor: 5000n,
    currency: 'UGX',
    reference: 'INV-1042',
    phone: '256772000100',
    operator: 'mtn-momo',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    failureCode: null,
    requestId: null,
    createdAt: AT,
    updatedAt: AT,
    sendBegunAt: null,
    sendsOnce: false,
    sendsTakenBack: 0,
    takeBackAttestation: null,
    receiptFollows: false,
    operatorIssuedId: null,
  }) as const;

/** What collections and payouts start with besides. */
export const REQUESTED = {
  idempotencyKey: 'order-1042',
  previousState: null,
  version: 0,
  description: null,
  metadata: {},
  amountReversedMinor: 0n,
  operatorReceipt: null,
  apiKeyId: null,
} as const;

export function collectionWith(fields: Partial<Collection> = {}): Collection {
  return {
    ...anyPayment('collection', 'col', 'initiated'),
    ...REQUESTED,
    createdBy: null,
    promptDeadlineAt: new Date(AT.getTime() + 300_000),
    promptExpiresAt: null,
    ...fields,
  };
}

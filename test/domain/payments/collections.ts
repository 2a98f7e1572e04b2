// Builds collections for unit tests: valid, with the fields that the test replaces.
import type { Collection } from '../../../src/domain/payments/collection.ts';
import { newId } from '../../../src/domain/ids.ts';

export const AT = new Date('2026-01-31T12:00:00.000Z');

export function collectionWith(fields: Partial<Collection> = {}): Collection {
  return {
    id: newId('col'),
    merchantId: newId('mer'),
    idempotencyKey: 'order-1042',
    state: 'initiated',
    previousState: null,
    version: 0,
    amountMinor: 5000n,
    currency: 'UGX',
    reference: 'INV-1042',
    phone: '256772000100',
    operator: 'mtn-momo',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    description: null,
    metadata: {},
    failureCode: null,
    amountReversedMinor: 0n,
    operatorReceipt: null,
    createdAt: AT,
    updatedAt: AT,
    createdBy: null,
    apiKeyId: null,
    requestId: null,
    promptDeadlineAt: new Date(AT.getTime() + 300_000),
    sendBegunAt: null,
    promptExpiresAt: null,
    ...fields,
  };
}

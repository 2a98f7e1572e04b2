// Builds reversals for unit tests: valid, with the fields that the test replaces.
import { newId } from '../../../src/domain/ids.ts';
import type { Reversal } from '../../../src/domain/payments/reversal.ts';
import { AT } from './collections.ts';

export function reversalWith(fields: Partial<Reversal> = {}): Reversal {
  return {
    id: newId('rev'),
    merchantId: newId('mer'),
    collectionId: newId('col'),
    operator: 'mtn-momo',
    state: 'requested',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    failureCode: null,
    requestedBy: newId('usr'),
    createdAt: AT,
    updatedAt: AT,
    sendDeadlineAt: AT,
    sendBegunAt: null,
    isCollectionReturned: false,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
    ...fields,
  };
}

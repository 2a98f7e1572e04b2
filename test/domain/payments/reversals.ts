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
    amountMinor: 5000n,
    currency: 'UGX',
    phone: '256772000100',
    reference: 'INV-1042',
    collectionOperatorReference: '0d1c55a8-6a3f-4a51-9d0a-5b7f0d6b4f11',
    state: 'released',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    failureCode: null,
    createdBy: newId('usr'),
    requestId: null,
    approvalsRequired: 1,
    approvals: [],
    decidedBy: null,
    rejectionReason: null,
    createdAt: AT,
    updatedAt: AT,
    expiresAt: new Date(AT.getTime() + 86_400_000),
    sendDeadlineAt: AT,
    requestAttestation: null,
    releaseAttestation: null,
    sendBegunAt: null,
    isCollectionReturned: false,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
    ...fields,
  };
}

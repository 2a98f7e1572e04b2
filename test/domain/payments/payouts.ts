// Builds payouts for unit tests: valid, with the fields that the test replaces.
import { newId } from '../../../src/domain/ids.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { AT } from './collections.ts';

export function payoutWith(fields: Partial<Payout> = {}): Payout {
  return {
    id: newId('pay'),
    merchantId: newId('mer'),
    idempotencyKey: 'salary-1042',
    state: 'queued',
    previousState: null,
    version: 0,
    amountMinor: 5000n,
    currency: 'UGX',
    reference: 'SAL-1042',
    phone: '256772000100',
    operator: 'mtn-momo',
    operatorReference: 'bab7498a-e092-4d89-8fba-2f337846fdb9',
    description: null,
    metadata: {},
    failureCode: null,
    amountReversedMinor: 0n,
    operatorReceipt: null,
    createdBy: newId('usr'),
    apiKeyId: null,
    requestId: null,
    approvalsRequired: 1,
    approvals: [],
    decidedBy: null,
    rejectionReason: null,
    createdAt: AT,
    updatedAt: AT,
    expiresAt: new Date(AT.getTime() + 86_400_000),
    sendDeadlineAt: null,
    requestAttestation: null,
    releaseAttestation: null,
    sendBegunAt: null,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
    ...fields,
  };
}

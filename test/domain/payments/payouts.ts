// Builds payouts for unit tests: valid, with the fields that the test replaces.
import { newId } from '../../../src/domain/ids.ts';
import type { Payout } from '../../../src/domain/payments/payout.ts';
import { anyPayment, AT, REQUESTED } from './collections.ts';

/** What payouts and refunds start with besides what every payment does. */
export const moneyOut = () =>
  ({
    createdBy: newId('usr'),
    approvalsRequired: 1,
    approvals: [],
    decidedBy: null,
    rejectionReason: null,
    expiresAt: new Date(AT.getTime() + 86_400_000),
    sendDeadlineAt: null,
    requestAttestation: null,
    releaseAttestation: null,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
  }) as const;

export function payoutWith(fields: Partial<Payout> = {}): Payout {
  return {
    kind: 'payout',
    id: newId('pay'),
    state: 'queued',
    ...anyPayment(),
    ...REQUESTED,
    ...moneyOut(),
    reference: 'SAL-1042',
    idempotencyKey: 'salary-1042',
    payeeName: null,
    ...fields,
  };
}

// Attests that a process of ours recorded a request, an approval, or a release. The database holds all three, and whoever can
// write to it could write them by hand.
import type { Environment } from '../domain/event.ts';
import type { UserId } from '../domain/ids.ts';
import type { Approval } from '../domain/payments/approval.ts';
import type { PaymentId } from '../domain/payments/payment.ts';
import type { Payout } from '../domain/payments/payout.ts';
import type { Reversal } from '../domain/payments/reversal.ts';
import { isMacOf, macOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

type Common = Pick<
  Payout & Reversal,
  'merchantId' | 'amountMinor' | 'currency' | 'phone' | 'operator' | 'operatorReference' | 'reference' | 'createdBy'
>;

/** A payout or a refund, with everything on which depends how much goes from whom to whom, and by whose request. */
export type ApprovedPayment = Common & {
  readonly id: PaymentId;
  /** What goes to the operator besides, in a fixed order. */
  readonly more: readonly (string | null)[];
};

export function attestedPayout(payout: Payout): ApprovedPayment {
  return { ...payout, more: [payout.description] };
}

export function attestedRefund(refund: Reversal): ApprovedPayment {
  return { ...refund, more: [refund.collectionId, refund.collectionOperatorReference] };
}

/** What was requested beside the payment itself. */
export type Request = Pick<Payout & Reversal, 'approvalsRequired' | 'createdAt' | 'expiresAt'>;

type GivenApproval = Omit<Approval, 'attestation'>;

/** What a release depends on beside the payment. */
export type Release = {
  readonly approvals: readonly GivenApproval[];
  readonly approvalsRequired: number;
  readonly sendDeadlineAt: Date | null;
};

export type ReleaseAttestor = ReturnType<typeof createReleaseAttestor>;

/** An attestation is valid in one environment alone: rows that are copied to another release nothing there. */
export function createReleaseAttestor({
  environment,
  keyRing,
}: {
  readonly environment: Environment;
  readonly keyRing: KeyRing;
}) {
  const requestParts = (payment: ApprovedPayment, request: Request): AttestedParts => [
    'malipo: request',
    environment,
    ...partsOf(payment),
    request.approvalsRequired,
    request.createdAt.getTime(),
    request.expiresAt.getTime(),
  ];
  const approvalParts = (payment: ApprovedPayment, approval: GivenApproval): AttestedParts => [
    'malipo: approval',
    environment,
    ...partsOf(payment),
    ...partsOfApproval(approval),
  ];
  const releaseParts = (payment: ApprovedPayment, release: Release): AttestedParts => [
    'malipo: release',
    environment,
    ...partsOf(payment),
    release.approvalsRequired,
    release.approvals.map(partsOfApproval).sort(([one], [other]) => (one < other ? -1 : 1)),
    release.sendDeadlineAt?.getTime() ?? null,
  ];
  return {
    attestRequest: (payment: ApprovedPayment, request: Request): string =>
      macOf(requestParts(payment, request), keyRing),

    isRequestAttested: (payment: ApprovedPayment, request: Request, attestation: string | null): boolean =>
      attestation !== null && isMacOf(requestParts(payment, request), attestation, keyRing),

    attestApproval: (payment: ApprovedPayment, approval: GivenApproval): string =>
      macOf(approvalParts(payment, approval), keyRing),

    isApprovalAttested: (payment: ApprovedPayment, approval: Approval): boolean =>
      approval.attestation !== null && isMacOf(approvalParts(payment, approval), approval.attestation, keyRing),

    attestRelease: (payment: ApprovedPayment, release: Release): string =>
      macOf(releaseParts(payment, release), keyRing),

    isReleaseAttested: (payment: ApprovedPayment, release: Release, attestation: string | null): boolean =>
      attestation !== null && isMacOf(releaseParts(payment, release), attestation, keyRing),
  };
}

function partsOf(payment: ApprovedPayment): readonly unknown[] {
  return [
    payment.id,
    payment.merchantId,
    payment.amountMinor.toString(),
    payment.currency,
    payment.phone,
    payment.operator,
    payment.operatorReference,
    payment.reference,
    payment.createdBy,
    payment.more,
  ];
}

function partsOfApproval({ userId, approvedAt }: GivenApproval): [UserId, number] {
  return [userId, approvedAt.getTime()];
}

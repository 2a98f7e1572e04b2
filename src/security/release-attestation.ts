// Attests that a process of ours recorded an approval, or a release. The database holds both, and whoever can write to it
// could write them by hand.
import type { Environment } from '../domain/event.ts';
import type { Currency } from '../domain/money.ts';
import type { MerchantId, UserId } from '../domain/ids.ts';
import type { PaymentId } from '../domain/payments/payment.ts';
import { isMacOf, macOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

/** A payout, with everything on which depends how much goes from whom to whom, and by whose request. */
export type ApprovedPayment = {
  readonly id: PaymentId;
  readonly merchantId: MerchantId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly phone: string;
  readonly operator: string;
  readonly operatorReference: string;
  readonly reference: string;
  readonly description: string | null;
  /** The maker. */
  readonly createdBy: UserId;
};

type GivenApproval = { readonly userId: UserId; readonly approvedAt: Date };
export type AttestedApproval = GivenApproval & {
  /** Null: recorded by a version that attested none, or by hand. */
  readonly attestation: string | null;
};

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
    attestApproval: (payment: ApprovedPayment, approval: GivenApproval): string =>
      macOf(approvalParts(payment, approval), keyRing),

    isApprovalAttested: (payment: ApprovedPayment, approval: AttestedApproval): boolean =>
      approval.attestation !== null && isMacOf(approvalParts(payment, approval), approval.attestation, keyRing),

    attestRelease: (payment: ApprovedPayment, release: Release): string =>
      macOf(releaseParts(payment, release), keyRing),

    isReleaseAttested: (payment: ApprovedPayment, release: Release, attestation: string | null): boolean =>
      attestation !== null && isMacOf(releaseParts(payment, release), attestation, keyRing),
  };
}

function partsOf(payment: ApprovedPayment): readonly (string | null)[] {
  return [
    payment.id,
    payment.merchantId,
    payment.amountMinor.toString(),
    payment.currency,
    payment.phone,
    payment.operator,
    payment.operatorReference,
    payment.reference,
    payment.description,
    payment.createdBy,
  ];
}

function partsOfApproval({ userId, approvedAt }: GivenApproval): [UserId, number] {
  return [userId, approvedAt.getTime()];
}

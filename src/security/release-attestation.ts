// Attests that a process of ours recorded a request, an approval, a release, that a send was not processed, or that the operator refused it
// for our float. An attacker who can write to the database could write all of these by hand.
import type { Environment } from '../domain/event.ts';
import type { UserId } from '../domain/ids.ts';
import type { Approval } from '../domain/payments/approval.ts';
import type { MoneyOut, Payment } from '../domain/payments/payment.ts';
import type { Payout } from '../domain/payments/payout.ts';
import type { SendGeneration } from '../domain/payments/payment-fields.ts';
import { isMacOf, macOf, type AttestedParts } from './attestation-mac.ts';
import type { KeyRing } from './sealing.ts';

type NewGeneration = Omit<SendGeneration, 'attestation'>;
type GivenApproval = Omit<Approval, 'attestation'>;

export type ReleaseAttestor = ReturnType<typeof createReleaseAttestor>;

/** An attestation is valid in one environment only: copied rows release nothing in another. */
export function createReleaseAttestor({
  environment,
  keyRing,
}: {
  readonly environment: Environment;
  readonly keyRing: KeyRing;
}) {
  const requestParts = (payment: MoneyOut): AttestedParts => [
    'malipo: request',
    environment,
    ...partsOf(payment),
    payment.approvalsRequired,
    payment.createdAt.getTime(),
    payment.expiresAt.getTime(),
  ];
  const approvalParts = (payment: MoneyOut, approval: GivenApproval): AttestedParts => [
    'malipo: approval',
    environment,
    ...partsOf(payment),
    ...partsOfApproval(approval),
  ];
  const releaseParts = (payment: MoneyOut): AttestedParts => [
    'malipo: release',
    environment,
    ...partsOf(payment),
    payment.approvalsRequired,
    payment.approvals.map(partsOfApproval).sort(([one], [other]) => (one < other ? -1 : 1)),
    payment.sendDeadlineAt?.getTime() ?? null,
  ];
  const takeBackParts = ({ id, operator, operatorReference }: Payment, sendsTakenBack: number): AttestedParts => [
    'malipo: take-back',
    environment,
    id,
    operator,
    operatorReference,
    sendsTakenBack,
  ];
  const isMac = (parts: AttestedParts, attestation: string | null): boolean =>
    attestation !== null && isMacOf(parts, attestation, keyRing);
  return {
    attestRequest: (payment: MoneyOut): string => macOf(requestParts(payment), keyRing),

    isRequestAttested: (payment: MoneyOut): boolean => isMac(requestParts(payment), payment.requestAttestation),

    attestApproval: (payment: MoneyOut, approval: GivenApproval): string =>
      macOf(approvalParts(payment, approval), keyRing),

    isApprovalAttested: (payment: MoneyOut, approval: Approval): boolean =>
      isMac(approvalParts(payment, approval), approval.attestation),

    attestRelease: (payment: MoneyOut): string => macOf(releaseParts(payment), keyRing),

    /** Whether the release, and a later generation of a payout, follow by no other hand than ours. */
    isReleaseAttested: (payment: MoneyOut): boolean =>
      isMac(releaseParts(payment), payment.releaseAttestation) && isGenerationAttested(payment, environment, isMac),

    /** That the operator refused the generation before this one for our float. */
    attestGeneration: (payout: Payout, later: NewGeneration): string =>
      macOf(generationParts(payout, later, environment), keyRing),

    /** That the operator did nothing with the send that began last, which becomes one more that is taken back. */
    attestTakeBack: (payment: Payment): string => macOf(takeBackParts(payment, payment.sendsTakenBack + 1), keyRing),

    /** Whether no send of the payment was taken back by another hand than ours. */
    isTakeBackAttested: (payment: Payment): boolean =>
      payment.sendsTakenBack === 0 ||
      isMac(takeBackParts(payment, payment.sendsTakenBack), payment.takeBackAttestation),
  };
}

function generationParts(payment: MoneyOut, later: NewGeneration, environment: Environment): AttestedParts {
  return ['malipo: generation', environment, ...partsOf(payment), later.number, later.operatorReference];
}

function isGenerationAttested(
  payment: MoneyOut,
  environment: Environment,
  isMac: (parts: AttestedParts, attestation: string | null) => boolean,
): boolean {
  const later = payment.kind === 'payout' ? payment.generation : null;
  return later === null || isMac(generationParts(payment, later, environment), later.attestation);
}

/** Everything that determines the amount, the two parties, and the requester. */
function partsOf(payment: MoneyOut): readonly unknown[] {
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
    // The other values that go to the operator, in a fixed order.
    payment.kind === 'payout'
      ? [payment.description]
      : [payment.collectionId, payment.collectionOperatorReference, payment.collectionReceipt],
  ];
}

function partsOfApproval({ userId, approvedAt }: GivenApproval): [UserId, number] {
  return [userId, approvedAt.getTime()];
}

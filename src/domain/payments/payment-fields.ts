// The fields that several kinds of payments share.
import type { Approval } from './approval.ts';
import type { FailureCode } from './failure.ts';
import type { ApiKeyId, MerchantId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { OperatorId } from './operator-catalogue.ts';

export type PaymentFields<Kind extends string, Id extends string, State extends string> = {
  readonly kind: Kind;
  readonly id: Id;
  readonly merchantId: MerchantId;
  readonly state: State;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly reference: string;
  readonly phone: string;
  readonly operator: OperatorId;
  /** The operator reference, recorded before anything is sent: see `operatorReferenceOf`. */
  readonly operatorReference: string;
  readonly failureCode: FailureCode | null;
  /** The request that created the payment; null: the payment is older than this field. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When the first try to send the payment began, whatever its result; null if nobody tried. */
  readonly sendBegunAt: Date | null;
  /** Whether a repeated send might pay twice, so that no send is repeated; from the catalogue when the payment was created. */
  readonly sendsOnce: boolean;
  /** How many sends were taken back, because the operator did nothing with them. The process that got the answer attests the last one. */
  readonly sendsTakenBack: number;
  readonly takeBackAttestation: string | null;
  /** Whether the operator's statuses name no receipt, so that the receipt is recorded later; from the catalogue as `sendsOnce`. */
  readonly receiptFollows: boolean;
  /** The issued id; null: no issued id is known. */
  readonly operatorIssuedId: string | null;
};

/** The fields of payments that merchants request by the public API: collections and payouts. */
export type RequestedFields<State extends string> = {
  readonly idempotencyKey: string;
  readonly previousState: State | null;
  /** Counts state changes; 0 is the payment as it was created. */
  readonly version: number;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly amountReversedMinor: bigint;
  /** The operator receipt; null until the operator has paid and has reported the receipt. */
  readonly operatorReceipt: string | null;
  /** The API key that created the payment; null: no key did, or the payment is older than this field. */
  readonly apiKeyId: ApiKeyId | null;
};

/** The fields of payments that people release: payouts and refunds. */
export type MoneyOutFields = {
  /** The maker: the person who requested the payment, or who created the API key that did. Never one of the approvers. */
  readonly createdBy: UserId;
  readonly approvalsRequired: number;
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  readonly decidedBy: UserId | null;
  readonly rejectionReason: string | null;
  /** From this time on the payment cannot be released. */
  readonly expiresAt: Date;
  /** After this time the payment is not sent any more; null until its release. */
  readonly sendDeadlineAt: Date | null;
  /** By the process that recorded the request; null if no process of ours did, or if its version attested none. */
  readonly requestAttestation: string | null;
  /** By the process that recorded the release; null until the release, or as for `requestAttestation`. */
  readonly releaseAttestation: string | null;
  /** When the operator first confirmed that it has the payment: from then on `not_found` does not make it fail. */
  readonly acceptedAt: Date | null;
} & NotFounds;

/** A generation after the first. The row of the payout has the progress of the current generation alone. */
export type SendGeneration = {
  /** From 2. */
  readonly number: number;
  /** The reference under which the operator gets this generation. */
  readonly operatorReference: string;
  /** Why the operator refused the generation before. */
  readonly failureCode: FailureCode;
  readonly recordedAt: Date;
  /** This generation is not sent before this time. */
  readonly sendAfter: Date;
  /** By the process that had the operator's refusal of the generation before. */
  readonly attestation: string;
};

/** How often, and from when to when, the operator said that it does not know the payment; counted on its row. */
export type NotFounds = {
  readonly notFoundCount: number;
  readonly notFoundSince: Date | null;
  readonly notFoundLastAt: Date | null;
};

/** The JSON fields that requested payments share, after the state and before the fields of one kind. Amounts fit a JSON number by check. */
export function requestedObject(
  payment: PaymentFields<string, string, string> & RequestedFields<string>,
  failure: object | null,
) {
  return {
    amount: Number(payment.amountMinor),
    currency: payment.currency,
    reference: payment.reference,
    phone: payment.phone,
    operator: payment.operator,
    description: payment.description,
    metadata: payment.metadata,
    failure,
    operator_reference: payment.operatorReference,
    amount_reversed: Number(payment.amountReversedMinor),
  };
}

/** The JSON fields that payouts and refunds share, after the fields of one kind. */
export function moneyOutObject(payment: PaymentFields<string, string, string> & MoneyOutFields) {
  return {
    approvals_required: payment.approvalsRequired,
    approvals: payment.approvals.map(({ userId, approvedAt }) => ({
      user_id: userId,
      approved_at: approvedAt.toISOString(),
    })),
    rejection_reason: payment.rejectionReason,
    created_at: payment.createdAt.toISOString(),
    updated_at: payment.updatedAt.toISOString(),
    expires_at: payment.expiresAt.toISOString(),
  };
}

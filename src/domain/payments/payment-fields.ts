// The fields that payments of several kinds have in common.
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
  /** The operator's name for it, recorded before anything is sent: see `operatorReferenceOf`. */
  readonly operatorReference: string;
  readonly failureCode: FailureCode | null;
  /** The request that made it; null: it was made before that was recorded. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When the first try to send it began, whatever it led to; null when nobody tried. */
  readonly sendBegunAt: Date | null;
  /** Whether a repeated send might pay twice, so that none is ever repeated; as the catalogue had it when the payment was made. */
  readonly sendsOnce: boolean;
  /** How many sends began with which the operator did nothing; the process that had its answer attests the last of them. */
  readonly sendsTakenBack: number;
  readonly takeBackAttestation: string | null;
  /** Whether the operator's statuses name no receipt, so that it is recorded after the payment; as for `sendsOnce`. */
  readonly receiptFollows: boolean;
  /** The id that the operator issued when it accepted the payment; null: none is known. */
  readonly operatorIssuedId: string | null;
};

/** Of what merchants request of the public API: collections and payouts. */
export type RequestedFields<State extends string> = {
  readonly idempotencyKey: string;
  readonly previousState: State | null;
  /** Counts state changes; 0 is the payment as it was created. */
  readonly version: number;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly amountReversedMinor: bigint;
  /** The operator's own number of the payment that it paid; null until it has paid, or has told the number. */
  readonly operatorReceipt: string | null;
  /** The key that it was created with; null: none, or it was created before that was recorded. */
  readonly apiKeyId: ApiKeyId | null;
};

/** Of what people release: payouts and refunds. */
export type MoneyOutFields = {
  /** The maker: the person who requested it, or who created the API key that did. Never one of its approvers. */
  readonly createdBy: UserId;
  readonly approvalsRequired: number;
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  readonly decidedBy: UserId | null;
  readonly rejectionReason: string | null;
  /** From this time on it cannot be released. */
  readonly expiresAt: Date;
  /** After this time it is not sent any more; null until it is released. */
  readonly sendDeadlineAt: Date | null;
  /** By the process that recorded the request; null when no process of ours did, or one of a version that attested none. */
  readonly requestAttestation: string | null;
  /** By the process that recorded the release; null until then, and as for approvals. */
  readonly releaseAttestation: string | null;
  /** When the operator first confirmed that it has the payment: from then on `not_found` does not make it fail. */
  readonly acceptedAt: Date | null;
} & NotFounds;

/** How often, and from when to when, the operator said that it does not know the payment; counted on its row. */
export type NotFounds = {
  readonly notFoundCount: number;
  readonly notFoundSince: Date | null;
  readonly notFoundLastAt: Date | null;
};

/** What merchants see of what they requested, between its state and what its kind alone has. Amounts fit a JSON number by check. */
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

/** What merchants see of what people release, after what its kind alone has. */
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

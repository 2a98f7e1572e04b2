// The initial fields of new payments.
import type { ActedBy } from '../accounts/member.ts';
import type { Policy } from '../accounts/policy.ts';
import type { DomainError } from '../errors.ts';
import { idTimeMs, type ApiKeyId, type CollectionId, type MerchantId, type PayoutId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { Environment } from '../event.ts';
import type { RequestedKind } from './amount-rules.ts';
import { capabilitiesOf, type Coverage } from './operator-catalogue.ts';
import { operatorReferenceOf } from './operator-reference.ts';
import type { MoneyOut } from './payment.ts';
import { planPayment, type PaymentRequest } from './payment-request.ts';
import { approvalsRequired } from './release.ts';

/** A request for a collection or payout: by a merchant's key, in a session, or by a payer at a checkout of the merchant. */
export type CreatePayment = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly idempotencyKey: string;
  readonly request: PaymentRequest;
  /** Recorded with the payment, or in the response that is stored when the balance is too small. */
  readonly requestId: string;
  /** While the backlog is too large or too old, or the service is in recovery: then only repeated requests get a response. */
  readonly refusal: DomainError | null;
  /** The person whose session makes the request, for the audit log; absent for an API key. */
  readonly by?: ActedBy;
  /** The API key that makes the request; null: the request has no key. */
  readonly apiKeyId: ApiKeyId | null;
  readonly at: Date;
};

/** A request with a key that the process verified for an earlier request. */
export type ByVerifiedKey = {
  readonly apiKeyId: ApiKeyId;
  /** The version of the key's row that was verified. */
  readonly keyVersion: string;
};

export type NewRequested = CreatePayment & {
  /** From 1: counts the payments of this kind with this idempotency key, which may be used again after its response expired. */
  readonly generation: number;
};

type RequestContext = { readonly environment: Environment; readonly coverage: Coverage };

/** The initial fields of a collection or payout. Throws the errors of `planPayment`. */
export function newRequested<Kind extends RequestedKind, Id extends CollectionId | PayoutId>(
  kind: Kind,
  id: Id,
  input: NewRequested,
  { environment, coverage }: RequestContext,
) {
  const { request, merchantId, idempotencyKey: key, generation } = input;
  const { operator } = planPayment(request, input.merchantCurrency, coverage, kind);
  // Lists filter by the time in the id, so the payment is created at that time.
  const at = new Date(idTimeMs(id));
  return {
    ...request,
    kind,
    id,
    merchantId,
    idempotencyKey: key,
    previousState: null,
    version: 0,
    currency: input.merchantCurrency,
    operator,
    operatorReference: operatorReferenceOf({ environment, merchantId, kind, key, generation }),
    failureCode: null,
    amountReversedMinor: 0n,
    operatorReceipt: null,
    apiKeyId: input.apiKeyId,
    requestId: input.requestId,
    createdAt: at,
    updatedAt: at,
    ...neverSent({ operator, kind }),
  } as const;
}

/** The initial fields of every payment: nobody has tried to send it. */
export function neverSent(payment: Parameters<typeof capabilitiesOf>[0]) {
  const { send, statusSays } = capabilitiesOf(payment);
  return {
    sendBegunAt: null,
    sendsOnce: send === 'once',
    receiptFollows: !statusSays.receipt,
    sendsTakenBack: 0,
    takeBackAttestation: null,
    operatorIssuedId: null,
  } as const;
}

type NewMoneyOut = Pick<MoneyOut, 'amountMinor' | 'createdBy' | 'createdAt'> & {
  readonly policy: Policy;
  /** Applies if the policy sets no expiry. */
  readonly expiryMs: number;
};

/** The initial fields of a payout or refund by the policy: queued, and approved by nobody. */
export function newMoneyOut({ amountMinor, createdBy, policy, createdAt, expiryMs }: NewMoneyOut) {
  return {
    state: 'queued',
    createdBy,
    approvalsRequired: approvalsRequired(policy, amountMinor),
    approvals: [],
    decidedBy: null,
    rejectionReason: null,
    expiresAt: new Date(createdAt.getTime() + (policy.payoutExpiresAfterMs ?? expiryMs)),
    sendDeadlineAt: null,
    requestAttestation: null,
    releaseAttestation: null,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
  } as const;
}

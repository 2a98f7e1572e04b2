// What every new payment starts with.
import type { ActedBy } from '../accounts/member.ts';
import type { Policy } from '../accounts/policy.ts';
import { idTimeMs, type ApiKeyId, type CollectionId, type MerchantId, type PayoutId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { Environment } from '../event.ts';
import type { RequestedKind } from './amount-rules.ts';
import { capabilitiesOf, type Coverage } from './operator-catalogue.ts';
import { operatorReferenceOf } from './operator-reference.ts';
import type { MoneyOut } from './payment.ts';
import { planPayment, type PaymentRequest } from './payment-request.ts';
import { approvalsRequired } from './release.ts';

/** A merchant's request for a collection or payout, by a key, in a session, or by a payer at a checkout of the merchant. */
export type CreatePayment = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  readonly idempotencyKey: string;
  readonly request: PaymentRequest;
  /** Recorded with the payment, or in the response that is stored when the balance is too small. */
  readonly requestId: string;
  /** False while the backlog is too large or too old: then only repeated requests get a response. */
  readonly isAcceptingWork: boolean;
  /** The person whose session makes the request, for the audit log; absent for an API key. */
  readonly by?: ActedBy;
  /** The key that makes the request; null: none does. */
  readonly apiKeyId: ApiKeyId | null;
  readonly at: Date;
};

/** A request of a key that the process verified for an earlier one. */
export type ByVerifiedKey = {
  readonly apiKeyId: ApiKeyId;
  /** The version of the key's row that was verified. */
  readonly keyVersion: string;
};

export type NewRequested = CreatePayment & {
  /** From 1: which payment of the kind with this idempotency key it is. The key may be used again after its response expired. */
  readonly generation: number;
};

type RequestContext = { readonly environment: Environment; readonly coverage: Coverage };

/** What a collection and a payout start with. Throws what `planPayment` throws. */
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

/** What every payment starts with: nobody tried to send it. */
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
  /** Where the policy says nothing. */
  readonly expiryMs: number;
};

/** What a payout and a refund start with, as the policy has it: queued, and approved by nobody. */
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

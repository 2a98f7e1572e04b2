// Accepts a request for a payout: once per idempotency key, and with its money held from then on.
import { randomUUID } from 'node:crypto';
import { recordAct } from '../../db/accounts/audit.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type KeyedRequest,
  type StoredResponse,
} from '../../db/payments/idempotency-key.ts';
import { findSpendableLocked } from '../../db/payments/ledger.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { sumQueuedOfKey } from '../../db/payments/payout.ts';
import { insertPayout } from '../../db/payments/payout-change.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import type { Tx } from '../../db/database.ts';
import { DomainError, errorBody, backlogFull } from '../../domain/errors.ts';
import { idTimeMs, newId, type ApiKeyId, type MerchantId, type UserId } from '../../domain/ids.ts';
import { requestFingerprint } from '../../security/request-fingerprint.ts';
import { permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import type { Currency } from '../../domain/money.ts';
import { planPayment, type PaymentRequest } from '../../domain/payments/payment-request.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import { payoutObject, type Payout } from '../../domain/payments/payout.ts';
import { approvalsRequired } from '../../domain/payments/release.ts';
import { attestedPayout } from '../../security/release-attestation.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreatePayout = {
  readonly merchantId: MerchantId;
  readonly merchantCurrency: Currency;
  /** The maker: the person who makes the request, or who created the API key that makes it. */
  readonly createdBy: UserId;
  readonly apiKeyId: ApiKeyId | null;
  /** The person whose session makes the request, for the audit log; absent for an API key. */
  readonly by?: ActedBy;
  readonly idempotencyKey: string;
  readonly request: PaymentRequest;
  /** Recorded with the payout, or in the response that is stored when the balance is too small. */
  readonly requestId: string;
  /** False while the backlog is too large or too old: then only repeated requests get a response. */
  readonly isAcceptingWork: boolean;
  readonly at: Date;
};

export type CreatedPayout =
  | { readonly kind: 'created'; readonly response: StoredResponse; readonly payout: Payout }
  | { readonly kind: 'refused' | 'replayed'; readonly response: StoredResponse };

export type PlanPayout = Pick<CreatePayout, 'request' | 'merchantCurrency'>;

/** The operator that would pay, decided as `createPayout` decides it; writes nothing. Throws what `planPayment` throws. */
export function planPayout(
  { coverage }: Pick<PaymentContext, 'coverage'>,
  input: PlanPayout,
): { operator: OperatorId } {
  return planPayment(input.request, input.merchantCurrency, coverage);
}

/**
 * One transaction claims the key, holds the money, inserts the payout with its event and stores the response: all or
 * nothing. With too little available the response is 402 `balance_insufficient`, which is stored too. Repeating the
 * call returns the stored response. Throws what `claimIdempotencyKey` and `planPayment` throw, `idempotency_key_reused`
 * for an expired key whose payout is still pending, `service_unavailable` when no new work is accepted, and
 * `state_conflict` when the API key's queued payouts would hold more than the policy allows; nothing is stored then.
 */
export async function createPayout(context: PaymentContext, input: CreatePayout): Promise<CreatedPayout> {
  const request: KeyedRequest = {
    merchantId: input.merchantId,
    key: input.idempotencyKey,
    fingerprint: requestFingerprint('POST', '/v1/api/payouts', input.request),
    at: input.at,
  };
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    if (!input.isAcceptingWork) throw backlogFull();
    // Read now: a member who was removed after the key or session was checked can create no more payouts.
    const roles = await findRoles(tx, input.merchantId, input.createdBy);
    if (roles.length === 0) throw permissionDenied('no member any more');
    const policy = await findPolicy(tx, input.merchantId);
    const { merchantId, createdBy: userId, apiKeyId, at } = input;
    const { environment } = context;
    await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at }, apiKeyId);
    const payout = newPayout(input, policy, context);
    const availableMinor = await findSpendableLocked(tx, input.merchantId);
    await requireWithinKeyLimit(tx, payout, policy);
    if (availableMinor < payout.amountMinor) {
      const response = { status: 402, body: JSON.stringify(errorBody(balanceInsufficient(), input.requestId)) };
      await storeResponse(tx, request, response);
      return { kind: 'refused', response };
    }
    const response = { status: 202, body: JSON.stringify(payoutObject(payout)) };
    await storeResponse(tx, request, response);
    if (!(await insertPayout(tx, payout, context.environment))) throw idempotencyKeyInUse();
    const act = { action: 'payout.created', subjectId: payout.id, after: summaryOf(payout), at: payout.createdAt };
    if (input.by) await recordAct(tx, input.by, act);
    return { kind: 'created', response, payout };
  });
}

// Behind the lock on the available balance, which every new payout of the merchant takes: otherwise simultaneous requests
// with one key would not count each other.
async function requireWithinKeyLimit(
  tx: Tx,
  { merchantId, apiKeyId, amountMinor }: Payout,
  { keyHeldLimitMinor: limitMinor }: Policy,
): Promise<void> {
  if (apiKeyId === null || limitMinor === null) return;
  if ((await sumQueuedOfKey(tx, merchantId, apiKeyId)) + amountMinor > limitMinor) throw keyLimitReached();
}

// For the audit log, which is never changed: everything except the payee, whom the payout itself names.
function summaryOf({ state, amountMinor, currency, reference, approvalsRequired: approvals }: Payout): object {
  return { state, amount: Number(amountMinor), currency, reference, approvals_required: approvals };
}

function newPayout(input: CreatePayout, policy: Policy, context: PaymentContext): Payout {
  const { clocks, releases } = context;
  const { request, merchantId } = input;
  const { operator } = planPayout(context, input);
  const id = newId('pay', input.at.getTime());
  // Lists filter by the time in the id, so the payout is created at that time.
  const at = new Date(idTimeMs(id));
  const payout: Payout = {
    id,
    merchantId,
    idempotencyKey: input.idempotencyKey,
    state: 'queued',
    previousState: null,
    version: 0,
    amountMinor: request.amountMinor,
    currency: input.merchantCurrency,
    reference: request.reference,
    phone: request.phone,
    operator,
    operatorReference: randomUUID(),
    description: request.description,
    metadata: request.metadata,
    failureCode: null,
    amountReversedMinor: 0n,
    operatorReceipt: null,
    createdBy: input.createdBy,
    apiKeyId: input.apiKeyId,
    requestId: input.requestId,
    approvalsRequired: approvalsRequired(policy, request.amountMinor),
    approvals: [],
    decidedBy: null,
    rejectionReason: null,
    createdAt: at,
    updatedAt: at,
    expiresAt: new Date(at.getTime() + (policy.payoutExpiresAfterMs ?? clocks.payoutExpiryMs)),
    sendDeadlineAt: null,
    requestAttestation: null,
    releaseAttestation: null,
    sendBegunAt: null,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
  };
  return { ...payout, requestAttestation: releases.attestRequest(attestedPayout(payout), payout) };
}

// The stored response has expired, and the payout is still pending: the id of its workflow contains the key.
function idempotencyKeyInUse(): DomainError {
  return new DomainError(
    'idempotency_key_reused',
    'The payout that was made with this Idempotency-Key is still under way. Use a new key for a new payout.',
  );
}

function balanceInsufficient(): DomainError {
  return new DomainError(
    'balance_insufficient',
    'The available balance is smaller than this payout. Nothing was held. Collect more, then use a new Idempotency-Key.',
  );
}

// Neither 402, which says that there is too little money, nor stored: the same request succeeds once payouts are decided.
function keyLimitReached(): DomainError {
  return new DomainError(
    'state_conflict',
    'The unreleased payouts of this key would hold more than the policy of the merchant allows. Nothing was held. Have ' +
      'some released or rejected, then repeat the request with the same Idempotency-Key.',
    { reason: 'over the key_held_limit of the policy' },
  );
}

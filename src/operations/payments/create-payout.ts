// Accepts a request for a payout: once per idempotency key, and with its money held from its creation on.
import { LRUCache } from 'lru-cache';
import { recordAct } from '../../db/accounts/audit.ts';
import { countOfKey, respondOnce } from '../../db/payments/idempotency-key.ts';
import { lockSpendable, type Spendable } from '../../db/payments/ledger.ts';
import { findRoles } from '../../db/accounts/member.ts';
import { insertPayout } from '../../db/payments/payout.ts';
import { findPermissionVersion } from '../../db/accounts/payout-permission.ts';
import { acceptPayout } from '../../db/payments/payout-acceptance.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import { DomainError, nullOnDomainError } from '../../domain/errors.ts';
import { newId, type UserId } from '../../domain/ids.ts';
import { keyedRequest, type KeyedRequest } from '../../security/request-fingerprint.ts';
import { countsAsMaker, permissionDenied } from '../../domain/accounts/member.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import { accepted, refused, type StoredOutcome } from '../../domain/payments/stored-outcome.ts';
import { balanceInsufficient } from '../../domain/payments/insufficient-balance.ts';
import {
  newMoneyOut,
  newRequested,
  type ByVerifiedKey,
  type CreatePayment,
  type NewRequested,
} from '../../domain/payments/new-payment.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreatePayout = CreatePayment & {
  /** The maker: the person who makes the request, or who created the API key that makes it. */
  readonly createdBy: UserId;
};

export type CreatedPayout = StoredOutcome<readonly [Payout]>;

/**
 * One transaction claims the key, holds the money, inserts the payout with its event and stores the response: all or nothing. If too little
 * money is available, the response is 402 `balance_insufficient`, which is stored too. Repeating the call returns the stored response.
 * Throws the errors of `claimIdempotencyKey` and `planPayment`, `idempotency_key_reused` for an expired key whose payout is still pending,
 * `service_unavailable` if no new work is accepted, and `state_conflict` if the API key's queued payouts would hold more than the policy
 * allows. After an error nothing is stored.
 */
export async function createPayout(context: PaymentContext, input: CreatePayout): Promise<CreatedPayout> {
  return respondOnce(context.db, keyed(input), async (tx) => {
    if (input.refusal) throw input.refusal;
    const { merchantId, createdBy: userId, apiKeyId, at } = input;
    const { environment } = context;
    // Read now: a member who was removed after the check of the key or session can create no more payouts.
    const roles = await findRoles(tx, merchantId, userId);
    if (roles.length === 0) throw permissionDenied('no longer a member');
    const policy = await findPolicy(tx, merchantId);
    await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at }, apiKeyId);
    const generation = (await countOfKey(tx, 'payout', input)) + 1;
    const payout = newPayout({ ...input, generation }, policy, context);
    const limitMinor = policy.keyHeldLimitMinor;
    const spendable = await lockSpendable(tx, merchantId, limitMinor === null ? null : apiKeyId);
    requireWithinKeyLimit(payout, spendable, limitMinor);
    if (spendable.spendableMinor < payout.amountMinor) {
      const reserved = { amountMinor: spendable.reservedMinor, currency: payout.currency };
      return refused(balanceInsufficient('payout', reserved), input.requestId);
    }
    if (!(await insertPayout(tx, payout, environment))) throw idempotencyKeyInUse();
    const act = { action: 'payout.created', subjectId: payout.id, after: summaryOf(payout), at: payout.createdAt };
    if (input.by) await recordAct(tx, input.by, act);
    return accepted(payout, 202);
  });
}

/** `createdBy` was the key's maker when it was verified. */
export type AcceptPayout = Omit<CreatePayout, 'by' | 'apiKeyId'> & ByVerifiedKey;

/**
 * The basis of decisions about a key's payouts: the key may create them from `since` on, by this policy, while its rows have the version.
 */
type Permission = { readonly version: string; readonly policy: Policy; readonly since: Date };

const MAX_PERMISSIONS = 10_000;
const READ_TIMEOUT_MS = 10_000;

/**
 * As `createPayout`, for a cached API key, in one statement. The statement acts only if no basis of the decision was written since it was
 * verified: the key, its maker's membership, the policy, and the owners with their second factors. The verified permission is kept for the
 * next payouts of the key. Null, with nothing recorded, if the payout is not created: verify the key again, then call `createPayout`.
 */
export function createPayoutAcceptance(
  context: PaymentContext,
): (input: AcceptPayout) => Promise<CreatedPayout | null> {
  const known = new LRUCache<string, Permission>({ max: MAX_PERMISSIONS });
  return async ({ keyVersion, ...input }) => {
    if (input.refusal) return null;
    const name = `${input.apiKeyId} ${keyVersion}`;
    const permission =
      known.get(name) ?? (await nullOnDomainError(() => readPermission(context, { ...input, keyVersion })));
    if (permission === null) return null;
    known.set(name, permission);
    // While the rows are unchanged only time passes, so the permission stays valid; a clock that was set back may be before `since`.
    if (input.at < permission.since) return null;
    // If an earlier payment has this key, it has this reference too, and the database refuses the statement.
    const planned = { ...input, generation: 1 };
    // `createPayout` decides about a refusal: it has more reasons to refuse, in a fixed order.
    const payout = await nullOnDomainError(() => newPayout(planned, permission.policy, context));
    if (payout === null) return null;
    const outcome = accepted(payout, 202);
    const { response } = outcome;
    const { version: permissionVersion, policy } = permission;
    const { keyHeldLimitMinor } = policy;
    const acceptance = { payout, request: keyed(input), response, permissionVersion, keyHeldLimitMinor };
    const result = await acceptPayout(context.db, acceptance, context.environment);
    if (result === 'unconfirmed') known.delete(name);
    return result === 'created' ? outcome : null;
  };
}

/** Null if the key was written since it was verified, or may create no payouts. */
function readPermission(
  { db, environment }: PaymentContext,
  { merchantId, createdBy: userId, apiKeyId, keyVersion, at }: AcceptPayout,
): Promise<Permission | null> {
  // Read at one moment, so that the verified rows are the rows whose versions are kept.
  return db.withLongReads({ statementTimeoutMs: READ_TIMEOUT_MS, atOneMoment: true }, async (read) => {
    const version = await findPermissionVersion(read, apiKeyId, keyVersion);
    if (version === null || !countsAsMaker(await findRoles(read, merchantId, userId))) return null;
    const policy = await findPolicy(read, merchantId);
    await requireMayMoveMoney(read, { merchantId, userId, policy, environment, at }, apiKeyId);
    return { version, policy, since: at };
  });
}

function keyed(input: CreatePayout): KeyedRequest {
  return keyedRequest('/v1/api/payouts', input, input.request);
}

// Counted after the lock on the available balance, which every new payout of the merchant takes: otherwise concurrent requests with one key
// would not count each other.
function requireWithinKeyLimit(
  { amountMinor }: Payout,
  { queuedOfKeyMinor }: Spendable,
  limitMinor: bigint | null,
): void {
  if (limitMinor === null || queuedOfKeyMinor === null) return;
  if (queuedOfKeyMinor + amountMinor > limitMinor) throw keyLimitReached();
}

// For the audit log, which is never changed: everything except the payee, whom the payout itself names.
function summaryOf({ state, amountMinor, currency, reference, approvalsRequired: approvals }: Payout): object {
  return { state, amount: Number(amountMinor), currency, reference, approvals_required: approvals };
}

/** The requested payout, `queued`, as the policy demands. Throws the errors of `planPayment`. */
function newPayout(input: CreatePayout & NewRequested, policy: Policy, context: PaymentContext): Payout {
  const { clocks, releases } = context;
  const requested = newRequested('payout', newId('pay', input.at.getTime()), input, context);
  const { amountMinor, createdAt } = requested;
  const { createdBy } = input;
  const queued = newMoneyOut({ amountMinor, createdBy, policy, createdAt, expiryMs: clocks.payoutExpiryMs });
  const payout: Payout = { ...requested, ...queued, generation: null, payeeName: input.request.payeeName ?? null };
  return { ...payout, requestAttestation: releases.attestRequest(payout) };
}

// The stored response has expired, but the payout is still pending: the id of its workflow contains the key.
function idempotencyKeyInUse(): DomainError {
  return new DomainError(
    'idempotency_key_reused',
    'The payout created with this Idempotency-Key is still in progress. Use a new key for a new payout.',
  );
}

// The error is not 402, which means too little money, and is not stored: the same request succeeds once payouts are decided.
function keyLimitReached(): DomainError {
  return new DomainError(
    'state_conflict',
    'The unreleased payouts of this key would hold more than the policy of the merchant allows. Nothing was held. Have ' +
      'some released or rejected, then repeat the request with the same Idempotency-Key.',
    { reason: 'over the key_held_limit of the policy' },
  );
}

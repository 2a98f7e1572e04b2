// Accepts a request to reverse a collection: once per idempotency key, and one reversal at a time per collection.
import { recordAct } from '../../db/accounts/audit.ts';
import { getCollection } from '../../db/payments/collection.ts';
import type { Tx } from '../../db/platform/database.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type KeyedRequest,
  type StoredResponse,
} from '../../db/payments/idempotency-key.ts';
import { lockSpendable } from '../../db/payments/ledger.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import { findLatestReversal, insertReversal } from '../../db/payments/reversal.ts';
import { DomainError, errorBody } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { requestFingerprint } from '../../security/request-fingerprint.ts';
import { holdsOneOf, permissionDenied, type ActedBy } from '../../domain/accounts/member.ts';
import { balanceInsufficient } from '../../domain/payments/insufficient-balance.ts';
import { newOperatorReference } from '../../domain/payments/operator-reference.ts';
import { approvalsRequired, checkSecondFactor } from '../../domain/payments/release.ts';
import { reversalObject, type Reversal, type ReversalState } from '../../domain/payments/reversal.ts';
import { attestedRefund } from '../../security/release-attestation.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreateReversal = {
  readonly by: ActedBy;
  readonly collectionId: string;
  readonly idempotencyKey: string;
  readonly at: Date;
};

export type CreatedReversal =
  | { readonly kind: 'created'; readonly response: StoredResponse; readonly reversal: Reversal }
  | { readonly kind: 'refused' | 'replayed'; readonly response: StoredResponse };

/**
 * One transaction claims the key, inserts the reversal and the audit entry, and stores the response. No money moves
 * yet: another person must release the refund, and the collection is reversed when the operator confirms it. From now on
 * its amount can be spent on nothing else. With too little available the response is 402
 * `balance_insufficient`, which is stored too. Throws `collection_not_found`, `state_conflict`, `permission_denied`,
 * and what `claimIdempotencyKey` throws; nothing is recorded then.
 */
export async function createReversal(context: PaymentContext, input: CreateReversal): Promise<CreatedReversal> {
  const { person } = input.by;
  const request: KeyedRequest = {
    merchantId: person.merchantId,
    key: input.idempotencyKey,
    fingerprint: requestFingerprint('POST', `/v1/console/collections/${input.collectionId}/reversal`, person.userId),
    at: input.at,
  };
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    const reversal = await insert(tx, input, context);
    const isRefused = reversal instanceof DomainError;
    const response = isRefused
      ? { status: 402, body: JSON.stringify(errorBody(reversal, input.by.requestId)) }
      : { status: 202, body: JSON.stringify(reversalObject(reversal)) };
    await storeResponse(tx, request, response);
    return isRefused ? { kind: 'refused', response } : { kind: 'created', response, reversal };
  });
}

/** After a reversal that ended like this, another one may be requested. */
const MAY_FOLLOW: readonly ReversalState[] = ['failed', 'rejected', 'cancelled', 'expired'];

/** Returns the error where the balance is too small. */
async function insert(
  tx: Tx,
  input: CreateReversal,
  { clocks, environment, releases }: PaymentContext,
): Promise<Reversal | DomainError> {
  const { by, collectionId, at } = input;
  const { merchantId, userId } = by.person;
  const roles = await findRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['maker'])) throw permissionDenied('no longer a maker');
  const policy = await findPolicy(tx, merchantId);
  await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at });
  checkSecondFactor(by.person, policy, at);
  // Locked before the collection and its reversals are read, so that a concurrent return or reversal is seen.
  const { spendableMinor, reservedMinor } = await lockSpendable(tx, merchantId);
  const collection = await getCollection(tx, merchantId, collectionId);
  if (collection.state !== 'succeeded') {
    throw new DomainError('state_conflict', `This collection is ${collection.state}: only a paid one can be reversed.`);
  }
  // Checked before the balance: for a second reversal of the same collection this is the better reason to refuse.
  const latest = await findLatestReversal(tx, merchantId, collection.id);
  if (latest !== null && !MAY_FOLLOW.includes(latest.state)) throw underWay();
  if (spendableMinor < collection.amountMinor) {
    return balanceInsufficient('refund', { amountMinor: reservedMinor, currency: collection.currency });
  }
  const requested: Reversal = {
    id: newId('rev', at.getTime()),
    merchantId,
    collectionId: collection.id,
    operator: collection.operator,
    amountMinor: collection.amountMinor,
    currency: collection.currency,
    phone: collection.phone,
    reference: collection.reference,
    collectionOperatorReference: collection.operatorReference,
    state: 'queued',
    operatorReference: newOperatorReference(at.getTime()),
    failureCode: null,
    createdBy: userId,
    requestId: by.requestId,
    approvalsRequired: approvalsRequired(policy, collection.amountMinor),
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
    isCollectionReturned: false,
    acceptedAt: null,
    notFoundCount: 0,
    notFoundSince: null,
    notFoundLastAt: null,
  };
  const requestAttestation = releases.attestRequest(attestedRefund(requested), requested);
  const reversal: Reversal = { ...requested, requestAttestation };
  if (!(await insertReversal(tx, reversal))) throw underWay();
  await recordAct(tx, by, {
    action: 'reversal.requested',
    subjectId: collection.id,
    after: { reversal_id: reversal.id },
    at,
  });
  return reversal;
}

function underWay(): DomainError {
  return new DomainError('state_conflict', 'A reversal of this collection is already in progress.');
}

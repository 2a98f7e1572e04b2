// Accepts a request to reverse a collection: once per idempotency key, and one reversal at a time per collection.
import { recordAct } from '../../db/accounts/audit.ts';
import { getCollection } from '../../db/payments/collection.ts';
import type { Tx } from '../../db/platform/database.ts';
import { respondOnce } from '../../db/payments/idempotency-key.ts';
import { lockSpendable } from '../../db/payments/ledger.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import { countReversals, findLatestReversal, insertReversal } from '../../db/payments/reversal.ts';
import { DomainError, stateConflict } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { keyedRequest } from '../../security/request-fingerprint.ts';
import { holdsOneOf, permissionDenied, type ByPerson } from '../../domain/accounts/member.ts';
import { accepted, refused, type StoredOutcome } from '../../domain/payments/stored-outcome.ts';
import { balanceInsufficient } from '../../domain/payments/insufficient-balance.ts';
import { neverSent, newMoneyOut } from '../../domain/payments/new-payment.ts';
import { OPERATORS } from '../../domain/payments/operator-catalogue.ts';
import { refundRefusal } from '../../domain/payments/payment-request.ts';
import { operatorReferenceOf } from '../../domain/payments/operator-reference.ts';
import { checkSecondFactor } from '../../domain/payments/release.ts';
import type { Reversal, ReversalState } from '../../domain/payments/reversal.ts';
import type { PaymentContext } from './payment-context.ts';

export type CreateReversal = ByPerson & { readonly collectionId: string; readonly idempotencyKey: string };

export type CreatedReversal = StoredOutcome<readonly [Reversal]>;

/**
 * One transaction claims the key, inserts the reversal and the audit entry, and stores the response. No money moves now: another person
 * must release the refund, and the collection is reversed when the operator confirms the refund. From now on the amount of the refund
 * cannot be spent on anything else. If too little money is available, the response is 402 `balance_insufficient`, which is stored too.
 * Throws `collection_not_found`, `state_conflict`, `permission_denied`, and the errors of `claimIdempotencyKey`. After an error nothing is
 * recorded.
 */
export async function createReversal(context: PaymentContext, input: CreateReversal): Promise<CreatedReversal> {
  const { merchantId, userId } = input.by.person;
  const path = `/v1/console/collections/${input.collectionId}/reversal`;
  const request = keyedRequest(path, { ...input, merchantId }, userId);
  return respondOnce(context.db, request, async (tx) => {
    const reversal = await insert(tx, input, context);
    return reversal instanceof DomainError ? refused(reversal, input.by.requestId) : accepted(reversal, 202);
  });
}

/** After a reversal that ended in one of these states, another reversal may be requested. */
const MAY_FOLLOW: readonly ReversalState[] = ['failed', 'rejected', 'cancelled', 'expired'];

/** Returns the error if the balance is too small. */
async function insert(
  tx: Tx,
  input: CreateReversal,
  { clocks, environment, releases, coverage }: PaymentContext,
): Promise<Reversal | DomainError> {
  const { by, collectionId, at } = input;
  const { merchantId, userId } = by.person;
  const roles = await findRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['maker'])) throw permissionDenied('no longer a maker');
  const policy = await findPolicy(tx, merchantId);
  await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at });
  checkSecondFactor(by.person, policy, at);
  // Locked before the collection and its reversals are read, so that a concurrent return or reversal is found.
  const { spendableMinor, reservedMinor } = await lockSpendable(tx, merchantId);
  const collection = await getCollection(tx, merchantId, collectionId);
  if (collection.state !== 'succeeded') {
    throw stateConflict(`This collection is ${collection.state}: only a paid one can be reversed.`);
  }
  const { capabilities, name } = OPERATORS[collection.operator];
  if (capabilities.refund === null) {
    throw stateConflict(
      `${name} offers no refund that is certain to be paid once. Pay the amount out to the payer instead.`,
    );
  }
  // Where the operator named no receipt, our reference stands for it.
  const isReceiptOurs =
    capabilities.refund.needs === 'receipt' && collection.operatorReceipt === collection.operatorReference;
  if (collection.operatorReceipt === null || isReceiptOurs) {
    throw stateConflict(
      `${name} has not told the receipt of this collection yet. Ask again once the collection shows one.`,
    );
  }
  const refusal = refundRefusal(collection, coverage);
  if (refusal !== null) throw stateConflict(refusal);
  // Checked before the balance: an earlier reversal of the same collection is the better reason to refuse.
  const latest = await findLatestReversal(tx, merchantId, collection.id);
  if (latest !== null && !MAY_FOLLOW.includes(latest.state)) throw underWay();
  if (spendableMinor < collection.amountMinor) {
    return balanceInsufficient('refund', { amountMinor: reservedMinor, currency: collection.currency });
  }
  const { operator, amountMinor, currency, phone, reference, operatorReference: key } = collection;
  const generation = (await countReversals(tx, merchantId, collection.id)) + 1;
  const requested: Reversal = {
    ...{ operator, amountMinor, currency, phone, reference },
    kind: 'reversal',
    id: newId('rev', at.getTime()),
    merchantId,
    ...newMoneyOut({ amountMinor, createdBy: userId, policy, createdAt: at, expiryMs: clocks.payoutExpiryMs }),
    operatorReference: operatorReferenceOf({ environment, merchantId, kind: 'reversal', key, generation }),
    failureCode: null,
    requestId: by.requestId,
    createdAt: at,
    updatedAt: at,
    ...neverSent({ operator, kind: 'reversal' }),
    collectionId: collection.id,
    collectionOperatorReference: key,
    collectionReceipt: collection.operatorReceipt,
    isCollectionReturned: false,
  };
  const reversal: Reversal = { ...requested, requestAttestation: releases.attestRequest(requested) };
  if (!(await insertReversal(tx, reversal))) throw underWay();
  const after = { reversal_id: reversal.id };
  await recordAct(tx, by, { action: 'reversal.requested', subjectId: collection.id, after, at });
  return reversal;
}

function underWay(): DomainError {
  return stateConflict('A reversal of this collection is already in progress.');
}

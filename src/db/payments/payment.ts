// Finds payments of any kind, and records people's decisions on a locked payment.
import type { Clocks } from '../../domain/clocks.ts';
import type { Environment } from '../../domain/event.ts';
import { isId, type MerchantId } from '../../domain/ids.ts';
import type { OperatorId } from '../../domain/payments/operator-catalogue.ts';
import type { MoneyOut, MoneyOutKind, Payment, PaymentKind, PaymentRef } from '../../domain/payments/payment.ts';
import { changePayment, type Decision } from '../../domain/payments/payment-change.ts';
import { notFound } from '../../domain/errors.ts';
import { statement, type Queryable, type Tx } from '../platform/database.ts';
import { findCollection, findCollectionByOperatorReference } from './collection.ts';
import { recordChange } from './payment-change.ts';
import { findPayout, findPayoutByOperatorReference } from './payout.ts';
import { findReversal, findReversalByOperatorReference } from './reversal.ts';

export function findPayment(db: Queryable, { kind, merchantId, id }: PaymentRef): Promise<Payment | null> {
  switch (kind) {
    case 'collection':
      return findCollection(db, merchantId, id);
    case 'payout':
      return findPayout(db, merchantId, id);
    case 'reversal':
      return findReversal(db, merchantId, id);
  }
}

/** Throws `collection_not_found`, `payout_not_found` or `reversal_not_found`. */
export async function getPayment<Kind extends PaymentKind>(
  db: Queryable,
  ref: PaymentRef<Kind>,
): Promise<Payment<Kind>> {
  const payment = await findPayment(db, ref as PaymentRef);
  if (payment === null) throw notFound(ref.kind);
  return payment as Payment<Kind>;
}

/** The payment of any kind and any merchant with this operator reference: for messages, because their address names nothing else. */
export async function findPaymentByOperatorReference(
  db: Queryable,
  operator: OperatorId,
  operatorReference: string,
): Promise<Payment | null> {
  return (
    (await findCollectionByOperatorReference(db, operator, operatorReference)) ??
    (await findPayoutByOperatorReference(db, operator, operatorReference)) ??
    findReversalByOperatorReference(db, operator, operatorReference)
  );
}

const LOCK = statement('payment_lock')`
  SELECT 1 FROM payments WHERE merchant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`;

/** Locks the payments, in the order of their ids, so that two callers never wait for each other. */
export async function lockPayments(tx: Tx, merchantId: MerchantId, ids: readonly string[]): Promise<void> {
  await tx.run(LOCK, [merchantId, ids]);
}

/**
 * Locks a payout or refund and returns it: no other transaction changes or approves it until this one ends. Throws `payout_not_found` or
 * `reversal_not_found`.
 */
export async function lockMoneyOut(tx: Tx, kind: MoneyOutKind, merchantId: MerchantId, id: string): Promise<MoneyOut> {
  if (!isId(kind === 'payout' ? 'pay' : 'rev', id)) throw notFound(kind);
  // Two statements, because a single statement would read the approvals that existed before its wait for the lock.
  await lockPayments(tx, merchantId, [id]);
  return getPayment(tx, { kind, merchantId, id } as PaymentRef<MoneyOutKind>);
}

type DecisionContext = { readonly environment: Environment; readonly clocks: Clocks; readonly at: Date };

/** Returns the locked payment after the decision. Null, and nothing is written, if its state no longer allows the decision. */
export async function recordDecision(
  tx: Tx,
  payment: MoneyOut,
  decision: Decision,
  { environment, clocks, at }: DecisionContext,
): Promise<MoneyOut | null> {
  const change = changePayment(payment, decision, at, clocks);
  if (change === null) return null;
  if (await recordChange(tx, change, environment, { recordedBy: 'other' })) return change.after;
  throw new Error(`${payment.id} changed while it was locked`);
}

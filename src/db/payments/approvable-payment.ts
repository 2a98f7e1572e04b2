// What differs between a payout and a refund when people decide about it.
import type { Tx } from '../platform/database.ts';
import { isPaymentAttested } from './attested-credit.ts';
import { recordPayoutChange } from './payout-change.ts';
import { findPayoutLocked } from './payout.ts';
import { findReversalLocked, updateReversal } from './reversal.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { isId, type MerchantId, type UserId } from '../../domain/ids.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import { payoutNotFound, payoutObject, type Payout } from '../../domain/payments/payout.ts';
import { changeReversal } from '../../domain/payments/reversal-change.ts';
import { reversalNotFound, reversalObject, type Reversal } from '../../domain/payments/reversal.ts';
import { attestedPayout, attestedRefund, type ApprovedPayment } from '../../security/release-attestation.ts';

export type Decision =
  | { readonly kind: 'released'; readonly sendDeadlineAt: Date; readonly releaseAttestation: string }
  | { readonly kind: 'rejected'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: UserId };

type DecisionContext = { readonly environment: Environment; readonly clocks: Clocks; readonly at: Date };

export type ApprovablePayment = Payout | Reversal;

/** One of the two kinds. */
export type ApprovableKind<Payment extends ApprovablePayment> = {
  readonly noun: 'payout' | 'reversal';
  findLocked(tx: Tx, merchantId: MerchantId, id: string): Promise<Payment | null>;
  notFound(): DomainError;
  /** Throws `state_conflict` when it must not be released although people may decide about it. */
  checkMayRelease(payment: Payment): void;
  /** Whether a process of ours recorded what its money rests on, beside the balance that it is a part of: see `isPaymentAttested`. */
  isMoneyAttested(tx: Tx, payment: Payment, checkedTo: bigint): Promise<boolean>;
  /** What its approvers agree to. */
  toAttested(payment: Payment): ApprovedPayment;
  /** As the API shows it. */
  toObject(payment: Payment): object;
  /** Records the decision. Null, and nothing is written, when the state of the payment allows it no more. */
  record(tx: Tx, payment: Payment, decision: Decision, context: DecisionContext): Promise<Payment | null>;
};

export const APPROVABLE_PAYOUT: ApprovableKind<Payout> = {
  noun: 'payout',
  findLocked: async (tx, merchantId, id) => (isId('pay', id) ? findPayoutLocked(tx, merchantId, id) : null),
  notFound: payoutNotFound,
  checkMayRelease: () => undefined,
  isMoneyAttested: () => Promise.resolve(true),
  toAttested: attestedPayout,
  toObject: payoutObject,
  async record(tx, payout, decision, { environment, clocks, at }) {
    const change = changePayout(payout, decision, at, clocks);
    if (change === null) return null;
    if (!(await recordPayoutChange(tx, change, environment))) throw changedWhileLocked(payout);
    return change.after;
  },
};

export const APPROVABLE_REFUND: ApprovableKind<Reversal> = {
  noun: 'reversal',
  findLocked: async (tx, merchantId, id) => (isId('rev', id) ? findReversalLocked(tx, merchantId, id) : null),
  notFound: reversalNotFound,
  checkMayRelease({ isCollectionReturned }) {
    if (!isCollectionReturned) return;
    throw new DomainError(
      'state_conflict',
      'The operator has already returned the money of this collection. Reject the refund.',
    );
  },
  // What goes back to the payer came by this collection.
  isMoneyAttested: (tx, { collectionId }, checkedTo) => isPaymentAttested(tx, collectionId, checkedTo),
  toAttested: attestedRefund,
  toObject: reversalObject,
  async record(tx, reversal, decision, { clocks, at }) {
    const change = changeReversal(reversal, decision, at, clocks);
    if (change === null) return null;
    if (!(await updateReversal(tx, change))) throw changedWhileLocked(reversal);
    return change.after;
  },
};

function changedWhileLocked({ id }: ApprovablePayment): Error {
  return new Error(`${id} changed while it was locked`);
}

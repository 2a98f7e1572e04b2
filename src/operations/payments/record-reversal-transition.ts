// Records a transition of a reversal. When the refund succeeds, the same transaction reverses the collection.
import { findCollection } from '../../db/payments/collection.ts';
import { recordCollectionChange } from '../../db/payments/collection-change.ts';
import type { Tx } from '../../db/platform/database.ts';
import { insertDiscrepancy } from '../../db/payments/discrepancy.ts';
import { isSendRepeated } from '../../db/payments/payment-progress.ts';
import { getReversal, updateReversal } from '../../db/payments/reversal.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { changeCollection } from '../../domain/payments/collection-change.ts';
import { isRefusedSend, type StatusBasis } from '../../domain/payments/operator-status.ts';
import type { PaymentRef } from '../../domain/payments/payment.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { changeReversal } from '../../domain/payments/reversal-change.ts';
import { isRefundNeverSent, type ReversalTransitionInput } from '../../domain/payments/reversal-progress.ts';
import { confirmsNeverAccepted } from '../../domain/payments/recorded-send.ts';
import type { PaymentContext } from './payment-context.ts';

export type RecordReversalTransition = {
  readonly ref: Omit<PaymentRef<'reversal'>, 'kind'>;
  readonly transition: ReversalTransitionInput;
  readonly at: Date;
  /** Of the verified status from which the input follows; null without one. */
  readonly basis: StatusBasis | null;
};

/** `isPosted` is false when the refund was paid after the operator had returned the collection: money left twice. */
export type RecordedReversal = { readonly reversal: Reversal; readonly isPosted: boolean };

/**
 * Returns the reversal as it is afterwards; an input for which its state has no transition changes nothing. A
 * collection that the operator returned meanwhile stays reversed, and a discrepancy records that the money left twice.
 * `approval_expired` is recorded only when the expiry in the row has passed, `never_sent` and `never_accepted` only if the row and
 * our own clock confirm it, and the refusal of a send only while there was no other try. Throws `reversal_not_found`.
 */
export async function recordReversalTransition(
  context: PaymentContext,
  { ref, transition, at, basis }: RecordReversalTransition,
): Promise<RecordedReversal> {
  const { clocks } = context;
  return context.db.withTransaction(async (tx) => {
    const before = await getReversal(tx, ref.merchantId, ref.id);
    const change = changeReversal(before, transition, at, clocks);
    if (change === null || !isTimely(before, transition, at, clocks)) {
      return { reversal: before, isPosted: true };
    }
    const { after } = change;
    const isPosted = after.state !== 'succeeded' || (await reverseCollection(tx, after, at, context));
    if (!isPosted) {
      const { id, merchantId } = after;
      const found = { kind: 'refunded_twice', operatorReceipt: null, reported: null, foundAt: at } as const;
      await insertDiscrepancy(tx, { kind: 'reversal', id, merchantId }, found);
    }
    const requiresOneTry = isRefusedSend(basis);
    if (await updateReversal(tx, change, { requiresOneTry, basis })) return { reversal: after, isPosted };
    if (requiresOneTry && (await isSendRepeated(tx, { kind: 'reversal', ...ref }))) {
      return { reversal: before, isPosted: true };
    }
    // Another process recorded an outcome meanwhile: a retry of the activity finds it.
    throw new Error(`${ref.id} changed while its transition was being recorded`);
  });
}

function isTimely(reversal: Reversal, transition: ReversalTransitionInput, at: Date, clocks: Clocks): boolean {
  if (transition.kind === 'approval_expired') return at >= reversal.expiresAt;
  if (transition.kind === 'never_sent') return confirmsRefundNeverSent(reversal, at);
  if (transition.kind !== 'never_accepted') return true;
  return confirmsNeverAccepted(reversal, transition.queriedAtMs, at, clocks);
}

function confirmsRefundNeverSent({ sendDeadlineAt, sendBegunAt, isCollectionReturned }: Reversal, at: Date): boolean {
  const progress = { sendDeadlineAtMs: sendDeadlineAt?.getTime() ?? null, isSendBegun: sendBegunAt !== null };
  return isRefundNeverSent({ ...progress, isCollectionReturned }, at.getTime());
}

async function reverseCollection(
  tx: Tx,
  { merchantId, collectionId }: Reversal,
  at: Date,
  { environment, clocks }: PaymentContext,
): Promise<boolean> {
  const collection = await findCollection(tx, merchantId, collectionId);
  const change = collection && changeCollection(collection, { kind: 'returned' }, at, clocks);
  if (!change) return false;
  if (await recordCollectionChange(tx, change, environment)) return true;
  throw new Error(`${collectionId} changed while its reversal was being recorded`);
}

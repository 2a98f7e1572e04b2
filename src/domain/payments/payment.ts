// What collections, payouts and reversals have in common: how one is named, and which of their states are final.
import type { CollectionId, MerchantId, PayoutId, ReversalId } from '../ids.ts';
import type { CollectionState } from './collection.ts';
import type { PayoutState } from './payout.ts';
import type { ReversalState } from './reversal.ts';

type PaymentIds = { readonly collection: CollectionId; readonly payout: PayoutId; readonly reversal: ReversalId };

export type PaymentKind = keyof PaymentIds;
export type PaymentId = PaymentIds[PaymentKind];

/** Names one payment. It is all that workflows, signals and histories carry of it. */
export type PaymentRef<Kind extends PaymentKind = PaymentKind> = {
  [Each in Kind]: { readonly kind: Each; readonly id: PaymentIds[Each]; readonly merchantId: MerchantId };
}[Kind];

export type PaymentState = CollectionState | PayoutState | ReversalState;

const PENDING: readonly PaymentState[] = ['initiated', 'prompted', 'queued', 'released', 'requested', 'reconciling'];

/** Nothing more is expected of a payment in this state. A late success or a return may still follow. */
export function isFinal(state: PaymentState): boolean {
  return !PENDING.includes(state);
}

/** The payment has an outcome that the operator may still contradict, or follow with a return of the money. */
export function isRecheckable(state: PaymentState): boolean {
  return state === 'succeeded' || state === 'failed';
}

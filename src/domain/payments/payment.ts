// Definitions shared by collections, payouts and reversals: how a payment is identified, and which states are final.
import type { CollectionId, MerchantId, PayoutId, ReversalId } from '../ids.ts';
import type { Collection } from './collection.ts';
import type { Payout } from './payout.ts';
import type { Reversal } from './reversal.ts';

type Payments = { readonly collection: Collection; readonly payout: Payout; readonly reversal: Reversal };
type PaymentIds = { readonly collection: CollectionId; readonly payout: PayoutId; readonly reversal: ReversalId };

export type PaymentKind = keyof Payments;
export const PAYMENT_KINDS = ['collection', 'payout', 'reversal'] as const satisfies readonly PaymentKind[];
export type PaymentId = PaymentIds[PaymentKind];

/** Identifies one payment. Workflows, signals and histories identify a payment by nothing else. */
export type PaymentRef<Kind extends PaymentKind = PaymentKind> = {
  [Each in Kind]: { readonly kind: Each; readonly id: PaymentIds[Each]; readonly merchantId: MerchantId };
}[Kind];

export type Payment<Kind extends PaymentKind = PaymentKind> = Payments[Kind];
export type PaymentState = Payment['state'];

/** The kinds that send money out, and that people release: payouts, and the refunds of reversals. */
export type MoneyOutKind = Exclude<PaymentKind, 'collection'>;
export type MoneyOut = Payment<MoneyOutKind>;

const IS_FINAL: Readonly<Record<PaymentState, boolean>> = {
  initiated: false,
  prompted: false,
  queued: false,
  released: false,
  reconciling: false,
  succeeded: true,
  failed: true,
  rejected: true,
  cancelled: true,
  expired: true,
  reversed: true,
};

/** Whether nothing more is awaited of a payment in this state. A late outcome or a return may still follow. */
export function isFinal(state: PaymentState): boolean {
  return IS_FINAL[state];
}

/** Whether the operator is still queried when it calls back about a final payment of this kind and state. */
export function isQueriedAfterCallback(kind: PaymentKind, state: PaymentState): boolean {
  // A payout that expired was never released, so no operator knows it.
  return isRecheckable(state) || (kind === 'collection' && state === 'expired');
}

/** Whether the payment has an outcome that the operator may still contradict, or whose money it may still return. */
export function isRecheckable(state: PaymentState): boolean {
  return state === 'succeeded' || state === 'failed';
}

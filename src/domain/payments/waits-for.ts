// Who must act next for a payment in each state, as workflow lists show it.
import type { PaymentSnapshot } from './lifecycle.ts';
import type { PaymentKind } from './payment.ts';

export type WaitsFor = 'payer' | 'approver' | 'operator';

const MONEY_OUT = { queued: 'approver', released: 'operator', reconciling: 'operator' } as const;

const WAITS_FOR: {
  readonly [Kind in PaymentKind]: Readonly<Partial<Record<PaymentSnapshot<Kind>['state'], WaitsFor>>>;
} = {
  collection: { initiated: 'operator', prompted: 'payer', reconciling: 'operator' },
  payout: MONEY_OUT,
  reversal: MONEY_OUT,
};

/** Null when nobody must act, because the state is final. */
export function waitsFor(kind: PaymentKind, state: PaymentSnapshot['state']): WaitsFor | null {
  const parties: Readonly<Partial<Record<string, WaitsFor>>> = WAITS_FOR[kind];
  return parties[state] ?? null;
}

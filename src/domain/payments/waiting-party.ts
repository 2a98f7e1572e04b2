// Who must act next for a payment in each state, as workflow lists show it.
import type { PaymentSnapshot } from './lifecycle.ts';
import type { PaymentKind } from './payment.ts';

export type WaitingParty = 'payer' | 'approver' | 'operator';

const MONEY_OUT = { queued: 'approver', released: 'operator', reconciling: 'operator' } as const;

const PARTIES: {
  readonly [Kind in PaymentKind]: Readonly<Partial<Record<PaymentSnapshot<Kind>['state'], WaitingParty>>>;
} = {
  collection: { initiated: 'operator', prompted: 'payer', reconciling: 'operator' },
  payout: MONEY_OUT,
  reversal: MONEY_OUT,
};

/** Null if nobody must act, because the state is final. */
export function waitingParty(kind: PaymentKind, state: PaymentSnapshot['state']): WaitingParty | null {
  const parties: Readonly<Partial<Record<string, WaitingParty>>> = PARTIES[kind];
  return parties[state] ?? null;
}

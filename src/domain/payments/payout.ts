// A payout: its states, the table of its transitions, and its JSON for merchants.
import { approvalState, type ApprovalState } from './approval.ts';
import { payoutFailure } from './failure.ts';
import type { PayoutId } from '../ids.ts';
import { MONEY_OUT, type MoneyOutState, type MoneyOutTransitionKind } from './money-out.ts';
import {
  moneyOutObject,
  requestedObject,
  type MoneyOutFields,
  type PaymentFields,
  type RequestedFields,
  type SendGeneration,
} from './payment-fields.ts';

export type PayoutState = MoneyOutState | 'reversed';

export type PayoutTransitionKind =
  | MoneyOutTransitionKind
  | 'paid' // the operator confirms that it paid
  | 'returned'; // the operator gave the money back to us

/** An absent pair changes nothing. docs/states.md is made from this table; a test holds the schema equal to it. */
export const PAYOUT_TRANSITIONS: Readonly<
  Record<PayoutState, Readonly<Partial<Record<PayoutTransitionKind, PayoutState>>>>
> = {
  queued: MONEY_OUT.queued,
  released: { ...MONEY_OUT.released, paid: 'succeeded', ...MONEY_OUT.unpaid },
  reconciling: { paid: 'succeeded', ...MONEY_OUT.unpaid },
  succeeded: { returned: 'reversed' },
  ...MONEY_OUT.unpaidEnds,
  reversed: {},
};

export const PAYOUT_STATES = Object.keys(PAYOUT_TRANSITIONS) as PayoutState[];

export type Payout = PaymentFields<'payout', PayoutId, PayoutState> &
  RequestedFields<PayoutState> &
  MoneyOutFields & {
    /** The current generation; null: the first one. */
    readonly generation: SendGeneration | null;
    /** As the maker typed the name, to be compared with the operator's; null: no name was given. */
    readonly payeeName: string | null;
  };

export function statesOfApproval(approval: ApprovalState): PayoutState[] {
  return PAYOUT_STATES.filter((state) => approvalState(state) === approval);
}

/** The payout as JSON, the same in the fetch route, in lists and in events. */
export function payoutObject(payout: Payout) {
  return {
    id: payout.id,
    state: payout.state,
    approval_state: approvalState(payout.state),
    ...requestedObject(payout, payout.failureCode && payoutFailure(payout.failureCode)),
    payee_name: payout.payeeName,
    created_by: payout.createdBy,
    ...moneyOutObject(payout),
  };
}

// A payout: its states, the table of its transitions, and what merchants see of it.
import { approvalState, type ApprovalState } from './approval.ts';
import { payoutFailure } from './failure.ts';
import type { PayoutId } from '../ids.ts';
import {
  moneyOutObject,
  requestedObject,
  type MoneyOutFields,
  type PaymentFields,
  type RequestedFields,
} from './payment-fields.ts';

export type PayoutState =
  'queued' | 'released' | 'reconciling' | 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'expired' | 'reversed';

export type PayoutTransitionKind =
  | 'released' // it has all the approvals that it needs
  | 'rejected' // by an approver
  | 'cancelled' // by its maker
  | 'approval_expired' // it was not released in time
  | 'outcome_unknown' // the operator is unreachable, or undecided for too long
  | 'paid' // the operator confirms that it paid
  | 'declined' // the operator confirms that it will not pay
  | 'never_sent' // nobody tried to send it before its deadline
  | 'never_accepted' // the operator does not know it, and no send of ours can still be on its way
  | 'returned'; // the operator gave the money back to us

/** An absent pair changes nothing. docs/states.md is made from this table; a test holds the schema equal to it. */
export const PAYOUT_TRANSITIONS: Readonly<
  Record<PayoutState, Readonly<Partial<Record<PayoutTransitionKind, PayoutState>>>>
> = {
  queued: { released: 'released', rejected: 'rejected', cancelled: 'cancelled', approval_expired: 'expired' },
  released: {
    outcome_unknown: 'reconciling',
    paid: 'succeeded',
    declined: 'failed',
    never_sent: 'failed',
    never_accepted: 'failed',
  },
  reconciling: { paid: 'succeeded', declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  succeeded: { returned: 'reversed' },
  failed: {},
  rejected: {},
  cancelled: {},
  expired: {},
  reversed: {},
};

export const PAYOUT_STATES = Object.keys(PAYOUT_TRANSITIONS) as PayoutState[];

export type Payout = PaymentFields<'payout', PayoutId, PayoutState> & RequestedFields<PayoutState> & MoneyOutFields;

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
    created_by: payout.createdBy,
    ...moneyOutObject(payout),
  };
}

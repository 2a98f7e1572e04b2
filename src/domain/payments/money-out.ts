// What the tables of states and transitions of payouts and refunds have in common.
export type MoneyOutState =
  'queued' | 'released' | 'reconciling' | 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'expired';

export type MoneyOutTransitionKind =
  | 'released' // it has all the approvals that it needs
  | 'rejected' // by an approver
  | 'cancelled' // by its maker, before anybody tried to send it
  | 'approval_expired' // it was not released in time
  | 'outcome_unknown' // the operator is unreachable, or undecided for too long
  | 'declined' // the operator confirms that it will not pay
  | 'never_sent' // nobody tried to send it before its deadline, or a refund before the operator returned the collection
  | 'never_accepted'; // the operator does not know it, and no send of ours can still be on its way

export const MONEY_OUT = {
  queued: { released: 'released', rejected: 'rejected', cancelled: 'cancelled', approval_expired: 'expired' },
  released: { cancelled: 'cancelled', outcome_unknown: 'reconciling' },
  /** From `released` and `reconciling`, besides the transition of what the operator paid. */
  unpaid: { declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  /** The states that money out ends in without being paid. */
  unpaidEnds: { failed: {}, rejected: {}, cancelled: {}, expired: {} },
} as const;

// The states and transitions that payouts and refunds share.
export type MoneyOutState =
  'queued' | 'released' | 'reconciling' | 'succeeded' | 'failed' | 'rejected' | 'cancelled' | 'expired';

export type MoneyOutTransitionKind =
  | 'released' // the payment has all its approvals
  | 'rejected' // by an approver
  | 'cancelled' // by its maker, before anybody tried to send the payment
  | 'approval_expired' // the payment was not released in time
  | 'outcome_unknown' // the operator is unreachable, or undecided for too long
  | 'declined' // the operator confirms that it will not pay
  | 'never_sent' // nobody tried to send the payment before its deadline, or a refund before the operator returned the collection
  | 'never_accepted'; // the operator does not know the payment, and no send of ours can still be on its way

export const MONEY_OUT = {
  queued: { released: 'released', rejected: 'rejected', cancelled: 'cancelled', approval_expired: 'expired' },
  released: { cancelled: 'cancelled', outcome_unknown: 'reconciling' },
  /** From `released` and `reconciling`, besides the transition of a paid payment. */
  unpaid: { declined: 'failed', never_sent: 'failed', never_accepted: 'failed' },
  /** The final states of unpaid money out. */
  unpaidEnds: { failed: {}, rejected: {}, cancelled: {}, expired: {} },
} as const;

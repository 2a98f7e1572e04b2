// The faults that checks of the ledger find: rows that the database should have refused.

/** Has no amounts, because a fault is part of a check's history. */
export type LedgerFault = {
  /** An account, a payment or a refund. */
  readonly subject: string;
  readonly fault: string;
};

const faultOf =
  (fault: string) =>
  (subject: string): LedgerFault => ({ subject, fault });

/** For an account, by all its entries. */
export const driftFault = faultOf('the balance is not the sum of the entries');
/** For an account, by its entries since the last check. */
export const newDriftFault = faultOf('the balance does not match the new entries');
/** For a payment or refund. */
export const unattestedFault = faultOf('credited to the available balance, but this service recorded no reason');
/** For an account, as long as unattested money is in it, even if the discrepancy is settled. */
export const unattestedBalanceFault = faultOf('money is available in it, and this service did not record why');
/** For an account. */
export const checkpointFault = faultOf('the checkpoint was not written by this service');
/** For a payment. */
export const unpostedFault = faultOf('the state and the transfers disagree');

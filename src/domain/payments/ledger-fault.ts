// What checks of the ledger find: rows that the database should have refused.

/** Without amounts: it is a part of a check's history. */
export type LedgerFault = {
  /** An account, a payment or a refund. */
  readonly subject: string;
  readonly fault: string;
};

/** Of an account, by all its entries. */
export function driftFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'the balance is not the sum of the entries' };
}

/** Of an account, by its entries since the last check. */
export function newDriftFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'the balance does not match the new entries' };
}

export function unattestedFault({ ref }: { readonly ref: { readonly id: string } }): LedgerFault {
  return { subject: ref.id, fault: 'credited to the available balance, but this service recorded no reason' };
}

/** Of an account: as long as that money is there, whoever settled what. */
export function unattestedBalanceFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'money is available in it, and this service did not record why' };
}

/** Of an account. */
export function checkpointFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'the checkpoint was not written by this service' };
}

export function unpostedFault({ id }: { readonly id: string }): LedgerFault {
  return { subject: id, fault: 'the state and the transfers disagree' };
}

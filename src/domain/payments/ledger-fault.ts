// What checks of the ledger find: rows that the database should have refused.

/** Without amounts: it is a part of a check's history. */
export type LedgerFault = {
  /** An account, a payment or a refund. */
  readonly subject: string;
  readonly fault: string;
};

/** Of an account, by all its entries. */
export function driftFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'its balance is not the sum of its entries' };
}

/** Of an account, by its entries since the last check. */
export function newDriftFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'its balance is not what its new entries make it' };
}

export function unattestedFault({ ref }: { readonly ref: { readonly id: string } }): LedgerFault {
  return { subject: ref.id, fault: 'money is available by it, and this service did not record why' };
}

/** Of an account: as long as that money is there, whoever settled what. */
export function unattestedBalanceFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'money is available in it, and this service did not record why' };
}

/** Of an account. */
export function checkpointFault(accountId: string): LedgerFault {
  return { subject: accountId, fault: 'its checkpoint was not written by this service' };
}

export function unpostedFault({ id }: { readonly id: string }): LedgerFault {
  return { subject: id, fault: 'its state and its transfers disagree' };
}

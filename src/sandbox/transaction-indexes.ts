// Indexes by which the sandbox operator finds payments without their key: each index leads to keys.
import type { Transaction } from './transaction.ts';

export type TransactionIndexes = {
  add(transaction: Transaction): void;
  remove(transaction: Transaction): void;
  /** The refund that was accepted for a collection and did not fail: a collection has at most one. */
  refundOf(operatorReference: string): string | undefined;
  issued(issuedId: string): string | undefined;
  /** The last paid collection of this wire with this receipt. */
  paid(wire: Transaction['wire'], receipt: string): string | undefined;
  /** The keys of the prompts in order of arrival. */
  promptsFor(accountReference: string): readonly string[];
};

export function createTransactionIndexes(): TransactionIndexes {
  const refunds = new Map<string, string>();
  const issuedIds = new Map<string, string>();
  const prompts = new Map<string, Set<string>>();
  const receipts = new Map<string, string>();

  function indexRefund({ kind, state, operatorReference, originalReference }: Transaction): void {
    if (kind !== 'refund' || originalReference === null) return;
    if (state === 'PENDING' || state === 'SUCCESSFUL') refunds.set(originalReference, operatorReference);
    else if (refunds.get(originalReference) === operatorReference) refunds.delete(originalReference);
  }

  return {
    add(transaction) {
      indexRefund(transaction);
      const { operatorReference, issuedId } = transaction;
      if (issuedId !== null) issuedIds.set(issuedId, operatorReference);
      const receipt = receiptOf(transaction);
      if (receipt !== null) receipts.set(receipt, operatorReference);
      const account = accountReference(transaction);
      if (account !== null) prompts.set(account, (prompts.get(account) ?? new Set()).add(operatorReference));
    },
    remove(transaction) {
      const { operatorReference, originalReference, issuedId } = transaction;
      refunds.delete(originalReference ?? operatorReference);
      issuedIds.delete(issuedId ?? '');
      const receipt = receiptOf(transaction) ?? '';
      if (receipts.get(receipt) === operatorReference) receipts.delete(receipt);
      const account = accountReference(transaction) ?? '';
      prompts.get(account)?.delete(operatorReference);
      if (prompts.get(account)?.size === 0) prompts.delete(account);
    },
    refundOf: (operatorReference) => refunds.get(operatorReference),
    issued: (issuedId) => issuedIds.get(issuedId),
    paid: (wire, receipt) => receipts.get(`${wire} ${receipt}`),
    promptsFor: (account) => [...(prompts.get(account) ?? [])],
  };
}

function receiptOf({ wire, kind, state, financialTransactionId }: Transaction): string | null {
  return kind === 'collection' && state === 'SUCCESSFUL' ? `${wire} ${financialTransactionId}` : null;
}

// Only prompts of M-Pesa have an account reference.
function accountReference({ wire, kind, externalId }: Transaction): string | null {
  return wire === 'daraja' && kind === 'collection' ? externalId : null;
}

// Refunds in Airtel's API at the sandbox operator: they have no id of their own, and show only in the enquiry of their collection.
import type { Transaction } from './transaction.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { RefundRequest } from './payment-intake.ts';
import { paidIdIn } from './airtel-answers.ts';
import { seenByQuery } from './seen-by-query.ts';

const PREFIX = 'refund-';

/** The refund of the collection with this receipt; null if there is no such collection. */
export function refundOfReceipt(receipt: string, store: TransactionStore): RefundRequest | null {
  const collection = store.paid('airtel-money', paidIdIn(receipt) ?? '');
  if (collection === undefined) return null;
  const { operatorReference, amount, currency, payerMessage, payeeNote } = collection;
  let key = PREFIX + operatorReference;
  // After one that failed, another one is possible.
  while (store.get(key)?.state === 'FAILED') key = PREFIX + key;
  return {
    ...{ amount, currency, payerMessage, payeeNote },
    kind: 'refund',
    wire: 'airtel-money',
    operatorReference: key,
    originalReference: operatorReference,
    externalId: null,
    // Airtel documents no callback for a refund.
    callbackUrl: null,
  };
}

/** A payment as an enquiry sees it, and whether its money was refunded. */
export type Enquired = {
  readonly transaction: Transaction | undefined;
  readonly isRefunded: boolean;
  /** The payment whose row decides whether the answer can be read. */
  readonly answeredAs: Transaction | undefined;
};

/** Once a refund was taken, its row of the outcome table decides how the enquiry of its collection is answered. */
export async function seenByEnquiry(found: Transaction | undefined, store: TransactionStore): Promise<Enquired> {
  const refund = found === undefined ? undefined : store.refundOf(found.operatorReference);
  if (refund === undefined) {
    const transaction = await seenByQuery(store, found);
    return { transaction, isRefunded: false, answeredAs: transaction };
  }
  const seen = await seenByQuery(store, refund);
  return { transaction: found, isRefunded: seen?.state === 'SUCCESSFUL', answeredAs: seen };
}

// The payment that a status query sees: in one row of the outcome table the operator does not know the payment at first.
import { behaviourOf } from './behaviours.ts';
import type { TransactionStore } from './transaction-store.ts';
import type { Transaction } from './transaction.ts';

/** Undefined if the operator says that it does not know the payment. */
export async function seenByQuery(
  store: TransactionStore,
  transaction: Transaction | undefined,
): Promise<Transaction | undefined> {
  if (transaction === undefined || transaction.state === 'NOT_ACCEPTED') return undefined;
  const { queriesReceived } = transaction;
  if (queriesReceived >= (behaviourOf(transaction).behaviour.queriesUnknown ?? 0)) return transaction;
  await store.put({ ...transaction, queriesReceived: queriesReceived + 1 });
  return undefined;
}

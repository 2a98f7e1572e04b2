// All payments the sandbox operator knows: in memory within bounds, and in a journal that outlives the process.
import { z } from 'zod';
import { createAccountBook } from './account-book.ts';
import { openJournal, readJournal, type Journal } from './journal.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import { transactionSchema, type Transaction } from './transaction.ts';

type TransactionFilter = Partial<Pick<Transaction, 'kind' | 'phone' | 'state' | 'operatorReference'>>;

export type TransactionStore = {
  get(operatorReference: string): Transaction | undefined;
  /** The refund of this collection that was taken and did not fail. */
  refundOf(operatorReference: string): Transaction | undefined;
  /** Visible at once; settles when it is in the journal. */
  put(transaction: Transaction): Promise<void>;
  /** Newest first, at most `limit`. */
  list(filter: TransactionFilter, limit: number): Transaction[];
  /** Everything that something is still to happen to by itself. */
  due(): Transaction[];
  /** Whether the account has enough for paying this out. */
  covers(payment: Pick<Transaction, 'amount' | 'currency'>): boolean;
  /** What is on the account in this currency, as a decimal string with two places. */
  balance(currency: string): string;
  close(): Promise<void>;
};

/** What the forgotten transactions moved, per currency in hundredths, as the journal's first line. */
const carriedSchema = z.object({ carried: z.record(z.string(), z.string().regex(/^-?\d+$/)) });

export async function openTransactionStore(settings: SandboxSettings): Promise<TransactionStore> {
  const { dataFile, limits, startingFloat } = settings;
  // In the order of arrival, because replacing a value keeps its place: the first is the oldest.
  const kept = new Map<string, Transaction>();
  const refunds = new Map<string, string>();
  const book = createAccountBook(startingFloat);
  const carried = createAccountBook(0);
  let journal: Journal | null = null;

  function keep(transaction: Transaction): void {
    const { operatorReference } = transaction;
    book.replace(kept.get(operatorReference), transaction);
    kept.set(operatorReference, transaction);
    indexRefund(refunds, transaction);
  }

  function forgetOldest(nowMs: number): void {
    for (const [reference, transaction] of kept) {
      const isTooOld = transaction.receivedAtMs < nowMs - limits.transactionAgeMs;
      if (!isTooOld && kept.size <= limits.transactions) return;
      kept.delete(reference);
      refunds.delete(transaction.originalReference ?? reference);
      carried.replace(undefined, transaction);
    }
  }

  function replay(entry: unknown): void {
    const transaction = transactionSchema.safeParse(entry);
    if (transaction.success) {
      keep(transaction.data);
      return;
    }
    const sums = carriedSchema.safeParse(entry);
    if (!sums.success) return;
    carried.add(sums.data.carried);
    book.add(sums.data.carried);
  }

  function snapshot(): unknown[] {
    return [{ carried: carried.written() }, ...kept.values()];
  }

  if (dataFile !== null) {
    await readJournal(dataFile, replay);
    forgetOldest(Date.now());
    journal = await openJournal({ path: dataFile, snapshot, growthBytes: limits.journalGrowthBytes });
  }

  return {
    get: (operatorReference) => kept.get(operatorReference),
    refundOf: (operatorReference) => kept.get(refunds.get(operatorReference) ?? ''),
    put(transaction) {
      keep(transaction);
      forgetOldest(Date.now());
      return journal === null ? Promise.resolve() : journal.append(transaction);
    },
    list: (filter, limit) => newest(kept, filter, limit),
    due: () => [...kept.values()].filter(({ dueAtMs }) => dueAtMs !== null),
    covers: (payment) => book.covers(payment),
    balance: (currency) => book.balance(currency),
    async close() {
      await journal?.close();
    },
  };
}

// From a collection to the refund that stands in the way of another one.
function indexRefund(refunds: Map<string, string>, transaction: Transaction): void {
  const { kind, state, operatorReference, originalReference } = transaction;
  if (kind !== 'refund' || originalReference === null) return;
  if (state === 'PENDING' || state === 'SUCCESSFUL') refunds.set(originalReference, operatorReference);
  else if (refunds.get(originalReference) === operatorReference) refunds.delete(originalReference);
}

function newest(kept: ReadonlyMap<string, Transaction>, filter: TransactionFilter, limit: number): Transaction[] {
  const { operatorReference } = filter;
  const named = operatorReference === undefined ? undefined : kept.get(operatorReference);
  const candidates = operatorReference === undefined ? [...kept.values()] : named === undefined ? [] : [named];
  const wanted = Object.entries(filter) as [keyof TransactionFilter, string][];
  return candidates
    .filter((candidate) => wanted.every(([field, value]) => candidate[field] === value))
    .slice(-limit)
    .reverse();
}

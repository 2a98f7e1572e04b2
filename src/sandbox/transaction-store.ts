// All payments that the sandbox operator knows: in memory within limits, and in a journal that outlives the process.
import { z } from 'zod';
import { createAccountBalances } from './account-balances.ts';
import { openJournal, readJournal, type Journal } from './journal.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import { createTransactionIndexes } from './transaction-indexes.ts';
import { transactionSchema, type Transaction } from './transaction.ts';

type TransactionFilter = Partial<Pick<Transaction, 'kind' | 'wire' | 'phone' | 'state' | 'operatorReference'>>;

export type TransactionStore = {
  get(operatorReference: string): Transaction | undefined;
  /** The payment with this issued id. */
  issued(issuedId: string): Transaction | undefined;
  /** The last paid collection of this wire with this receipt. */
  paid(wire: Transaction['wire'], receipt: string): Transaction | undefined;
  /** The prompts of M-Pesa with this AccountReference, the oldest first: each request is a prompt of its own. */
  promptsFor(accountReference: string): Transaction[];
  /** The refund that was accepted for this collection and did not fail. */
  refundOf(operatorReference: string): Transaction | undefined;
  /** Makes the transaction visible at once; resolves when the journal has it. */
  put(transaction: Transaction): Promise<void>;
  /** Newest first, at most `limit`. */
  list(filter: TransactionFilter, limit: number): Transaction[];
  /** The transactions that must still be decided or returned without a person. */
  due(): Transaction[];
  /** Whether the account has enough money for this payment. */
  covers(payment: Pick<Transaction, 'amount' | 'currency'>): boolean;
  /** The account's balance in this currency, as a decimal string with two places. */
  balance(currency: string): string;
  close(): Promise<void>;
};

/** The journal's first line: the sums of the forgotten transactions, in hundredths per currency. */
const carriedSchema = z.object({ carried: z.record(z.string(), z.string().regex(/^-?\d+$/)) });

export async function openTransactionStore(settings: SandboxSettings): Promise<TransactionStore> {
  const { dataFile, limits, startingFloat } = settings;
  // In order of arrival, the oldest first: a Map keeps the position of a replaced value.
  const kept = new Map<string, Transaction>();
  const indexes = createTransactionIndexes();
  const balances = createAccountBalances(startingFloat);
  const carried = createAccountBalances(0);
  let journal: Journal | null = null;

  function keep(transaction: Transaction): void {
    const { operatorReference } = transaction;
    balances.replace(kept.get(operatorReference), transaction);
    kept.set(operatorReference, transaction);
    indexes.add(transaction);
  }

  function forgetOldest(nowMs: number): void {
    for (const [reference, transaction] of kept) {
      const isTooOld = transaction.receivedAtMs < nowMs - limits.transactionAgeMs;
      if (!isTooOld && kept.size <= limits.transactions) return;
      kept.delete(reference);
      indexes.remove(transaction);
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
    balances.add(sums.data.carried);
  }

  function snapshot(): unknown[] {
    return [{ carried: carried.totals() }, ...kept.values()];
  }

  if (dataFile !== null) {
    await readJournal(dataFile, replay);
    forgetOldest(Date.now());
    journal = await openJournal({ path: dataFile, snapshot, growthBytes: limits.journalGrowthBytes });
  }

  return {
    get: (operatorReference) => kept.get(operatorReference),
    issued: (issuedId) => kept.get(indexes.issued(issuedId) ?? ''),
    paid: (wire, receipt) => kept.get(indexes.paid(wire, receipt) ?? ''),
    promptsFor: (account) => indexes.promptsFor(account).flatMap((reference) => kept.get(reference) ?? []),
    refundOf: (operatorReference) => kept.get(indexes.refundOf(operatorReference) ?? ''),
    put(transaction) {
      keep(transaction);
      forgetOldest(Date.now());
      return journal === null ? Promise.resolve() : journal.append(transaction);
    },
    list: (filter, limit) => newest(kept, filter, limit),
    due: () => [...kept.values()].filter(({ dueAtMs }) => dueAtMs !== null),
    covers: (payment) => balances.covers(payment),
    balance: (currency) => balances.balance(currency),
    async close() {
      await journal?.close();
    },
  };
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

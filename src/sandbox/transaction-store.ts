// All payments the sandbox operator knows: in memory within bounds, and in a journal that outlives the process.
import { z } from 'zod';
import { openJournal, readJournal, type Journal } from './journal.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import { transactionSchema, type Transaction } from './transaction.ts';

type TransactionFilter = { readonly phone?: string; readonly operatorReference?: string };

export type TransactionStore = {
  get(operatorReference: string): Transaction | undefined;
  /** Visible at once; settles when it is in the journal. */
  put(transaction: Transaction): Promise<void>;
  /** Newest first, at most `limit`. */
  list(filter: TransactionFilter, limit: number): Transaction[];
  pending(): Transaction[];
  /** Everything that was ever paid in this currency, as a decimal string with two places. */
  paidTotal(currency: string): string;
  close(): Promise<void>;
};

/** What the forgotten transactions paid, per currency in hundredths, as the journal's first line. */
const carriedSchema = z.object({ carried: z.record(z.string(), z.string().regex(/^\d+$/)) });

export async function openTransactionStore({ dataFile, limits }: SandboxSettings): Promise<TransactionStore> {
  // In the order of arrival, because replacing a value keeps its place: the first is the oldest.
  const kept = new Map<string, Transaction>();
  const carried = new Map<string, bigint>();
  let journal: Journal | null = null;

  function forgetOldest(nowMs: number): void {
    for (const [reference, transaction] of kept) {
      const isTooOld = transaction.receivedAtMs < nowMs - limits.transactionAgeMs;
      if (!isTooOld && kept.size <= limits.transactions) return;
      kept.delete(reference);
      if (transaction.state === 'SUCCESSFUL') addTo(carried, transaction);
    }
  }

  function replay(entry: unknown): void {
    const transaction = transactionSchema.safeParse(entry);
    if (transaction.success) {
      kept.set(transaction.data.operatorReference, transaction.data);
      return;
    }
    const sums = carriedSchema.safeParse(entry);
    if (!sums.success) return;
    for (const [currency, hundredths] of Object.entries(sums.data.carried)) carried.set(currency, BigInt(hundredths));
  }

  function snapshot(): unknown[] {
    const sums = Object.fromEntries([...carried].map(([currency, hundredths]) => [currency, hundredths.toString()]));
    return [{ carried: sums }, ...kept.values()];
  }

  if (dataFile !== null) {
    await readJournal(dataFile, replay);
    forgetOldest(Date.now());
    journal = await openJournal({ path: dataFile, snapshot, growthBytes: limits.journalGrowthBytes });
  }

  return {
    get: (operatorReference) => kept.get(operatorReference),
    put(transaction) {
      kept.set(transaction.operatorReference, transaction);
      forgetOldest(Date.now());
      return journal === null ? Promise.resolve() : journal.append(transaction);
    },
    list: (filter, limit) => newest(kept, filter, limit),
    pending: () => [...kept.values()].filter(({ state }) => state === 'PENDING'),
    paidTotal(currency) {
      const sums = new Map(carried);
      for (const transaction of kept.values()) if (transaction.state === 'SUCCESSFUL') addTo(sums, transaction);
      const hundredths = (sums.get(currency) ?? 0n).toString().padStart(3, '0');
      return `${hundredths.slice(0, -2)}.${hundredths.slice(-2)}`;
    },
    async close() {
      await journal?.close();
    },
  };
}

function newest(
  kept: ReadonlyMap<string, Transaction>,
  { phone, operatorReference }: TransactionFilter,
  limit: number,
): Transaction[] {
  const named = operatorReference === undefined ? undefined : kept.get(operatorReference);
  const candidates = operatorReference === undefined ? [...kept.values()] : named === undefined ? [] : [named];
  return candidates
    .filter((candidate) => phone === undefined || candidate.phone === phone)
    .slice(-limit)
    .reverse();
}

function addTo(sums: Map<string, bigint>, { amount, currency }: Transaction): void {
  const [whole = '0', fraction = ''] = amount.split('.');
  const hundredths = BigInt(whole + fraction.padEnd(2, '0'));
  sums.set(currency, (sums.get(currency) ?? 0n) + hundredths);
}

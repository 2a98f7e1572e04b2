// All payments that the sandbox operator knows: in memory within limits, and in a journal that outlives the process.
import { z } from 'zod';
import { createAccountBalances } from './account-balances.ts';
import { behaviourOf } from './behaviours.ts';
import { openJournal, readJournal, type Journal } from './journal.ts';
import type { SandboxSettings } from './sandbox-config.ts';
import { transactionSchema, type Transaction } from './transaction.ts';

type TransactionFilter = Partial<Pick<Transaction, 'kind' | 'wire' | 'phone' | 'state' | 'operatorReference'>>;

export type TransactionStore = {
  get(operatorReference: string): Transaction | undefined;
  /** What the operator says to a query; undefined: that it does not know the payment. */
  seenByQuery(transaction: Transaction | undefined): Promise<Transaction | undefined>;
  /** By the id that the operator gave it. */
  issued(issuedId: string): Transaction | undefined;
  /** The prompts of M-Pesa with this AccountReference, the oldest first: each request is one of its own. */
  promptsFor(accountReference: string): Transaction[];
  /** The refund of this collection that was accepted and did not fail. */
  refundOf(operatorReference: string): Transaction | undefined;
  /** Visible at once; the promise resolves when it is in the journal. */
  put(transaction: Transaction): Promise<void>;
  /** Newest first, at most `limit`. */
  list(filter: TransactionFilter, limit: number): Transaction[];
  /** The transactions that are still to be decided or returned without a person. */
  due(): Transaction[];
  /** Whether the account has enough to pay this out. */
  covers(payment: Pick<Transaction, 'amount' | 'currency'>): boolean;
  /** The account's balance in this currency, as a decimal string with two places. */
  balance(currency: string): string;
  close(): Promise<void>;
};

/** The journal's first line: the sums of the forgotten transactions, in hundredths per currency. */
const carriedSchema = z.object({ carried: z.record(z.string(), z.string().regex(/^-?\d+$/)) });

export async function openTransactionStore(settings: SandboxSettings): Promise<TransactionStore> {
  const { dataFile, limits, startingFloat } = settings;
  // In order of arrival, the oldest first: a Map keeps the position of a value that is replaced.
  const kept = new Map<string, Transaction>();
  const refunds = new Map<string, string>();
  const prompts = createPromptIndex();
  const issued = new Map<string, string>();
  const balances = createAccountBalances(startingFloat);
  const carried = createAccountBalances(0);
  let journal: Journal | null = null;

  function keep(transaction: Transaction): void {
    const { operatorReference } = transaction;
    balances.replace(kept.get(operatorReference), transaction);
    kept.set(operatorReference, transaction);
    indexRefund(refunds, transaction);
    prompts.add(transaction);
    if (transaction.issuedId !== null) issued.set(transaction.issuedId, operatorReference);
  }

  function forgetOldest(nowMs: number): void {
    for (const [reference, transaction] of kept) {
      const isTooOld = transaction.receivedAtMs < nowMs - limits.transactionAgeMs;
      if (!isTooOld && kept.size <= limits.transactions) return;
      kept.delete(reference);
      refunds.delete(transaction.originalReference ?? reference);
      prompts.remove(transaction);
      issued.delete(transaction.issuedId ?? '');
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

  function put(transaction: Transaction): Promise<void> {
    keep(transaction);
    forgetOldest(Date.now());
    return journal === null ? Promise.resolve() : journal.append(transaction);
  }

  if (dataFile !== null) {
    await readJournal(dataFile, replay);
    forgetOldest(Date.now());
    journal = await openJournal({ path: dataFile, snapshot, growthBytes: limits.journalGrowthBytes });
  }

  return {
    get: (operatorReference) => kept.get(operatorReference),
    issued: (issuedId) => kept.get(issued.get(issuedId) ?? ''),
    promptsFor: (accountReference) => prompts.of(accountReference).flatMap((reference) => kept.get(reference) ?? []),
    refundOf: (operatorReference) => kept.get(refunds.get(operatorReference) ?? ''),
    put,
    async seenByQuery(transaction) {
      if (transaction === undefined || transaction.state === 'NOT_ACCEPTED') return undefined;
      const { queriesReceived } = transaction;
      if (queriesReceived >= (behaviourOf(transaction).behaviour.queriesUnknown ?? 0)) return transaction;
      await put({ ...transaction, queriesReceived: queriesReceived + 1 });
      return undefined;
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

type PromptIndex = {
  add(transaction: Transaction): void;
  remove(transaction: Transaction): void;
  of(accountReference: string): readonly string[];
};

function createPromptIndex(): PromptIndex {
  const prompts = new Map<string, Set<string>>();
  const nameOf = ({ wire, kind, externalId }: Transaction) =>
    wire === 'daraja' && kind === 'collection' ? externalId : null;
  return {
    add(transaction) {
      const name = nameOf(transaction);
      if (name === null) return;
      const known = prompts.get(name) ?? new Set();
      prompts.set(name, known.add(transaction.operatorReference));
    },
    remove(transaction) {
      const name = nameOf(transaction) ?? '';
      prompts.get(name)?.delete(transaction.operatorReference);
      if (prompts.get(name)?.size === 0) prompts.delete(name);
    },
    of: (accountReference) => [...(prompts.get(accountReference) ?? [])],
  };
}

// Maps a collection to its refund, unless that failed: a collection has one refund.
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

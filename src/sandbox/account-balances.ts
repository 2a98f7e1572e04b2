// The balances of the sandbox operator's account per currency: the starting float, plus money in, minus money out.
import type { Transaction } from './transaction.ts';

export type AccountBalances = {
  /** Counts `after` instead of `before`; undefined counts as zero. */
  replace(before: Transaction | undefined, after: Transaction | undefined): void;
  /** Adds hundredths per currency, as `totals` returned them. */
  add(hundredthsByCurrency: Readonly<Record<string, string>>): void;
  /** Hundredths per currency without the starting float. */
  totals(): Record<string, string>;
  /** Whether the account has enough money for this payment. */
  covers(payment: Pick<Transaction, 'amount' | 'currency'>): boolean;
  /** A decimal string with two places. Negative when a collection was reversed after its money was paid out. */
  balance(currency: string): string;
};

/** `startingFloat` is in whole units, the same for every currency. */
export function createAccountBalances(startingFloat: number): AccountBalances {
  const sums = new Map<string, bigint>();
  const float = BigInt(startingFloat) * 100n;

  function post(currency: string, hundredths: bigint): void {
    if (hundredths !== 0n) sums.set(currency, (sums.get(currency) ?? 0n) + hundredths);
  }

  function available(currency: string): bigint {
    return float + (sums.get(currency) ?? 0n);
  }

  return {
    replace(before, after) {
      if (before !== undefined) post(before.currency, -signedHundredths(before));
      if (after !== undefined) post(after.currency, signedHundredths(after));
    },
    add(hundredthsByCurrency) {
      for (const [currency, hundredths] of Object.entries(hundredthsByCurrency)) post(currency, BigInt(hundredths));
    },
    totals: () => Object.fromEntries([...sums].map(([currency, hundredths]) => [currency, hundredths.toString()])),
    covers: ({ amount, currency }) => hundredthsOf(amount) <= available(currency),
    balance: (currency) => toDecimal(available(currency)),
  };
}

function signedHundredths({ kind, state, amount }: Transaction): bigint {
  if (state !== 'SUCCESSFUL') return 0n;
  return kind === 'collection' ? hundredthsOf(amount) : -hundredthsOf(amount);
}

function hundredthsOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
}

function toDecimal(hundredths: bigint): string {
  const isNegative = hundredths < 0n;
  const digits = (isNegative ? -hundredths : hundredths).toString().padStart(3, '0');
  return `${isNegative ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

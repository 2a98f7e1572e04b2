// The sandbox operator's account, per currency: a starting float, what came in, and what went out of it.
import type { Transaction } from './transaction.ts';

export type AccountBook = {
  /** Counts `after` instead of `before`; undefined counts for nothing. */
  replace(before: Transaction | undefined, after: Transaction | undefined): void;
  /** Adds hundredths per currency as they were written down before. */
  add(hundredthsByCurrency: Readonly<Record<string, string>>): void;
  /** Hundredths per currency without the starting float: what `add` takes. */
  written(): Record<string, string>;
  /** Whether paying this out would not overdraw the account. */
  covers(payment: Pick<Transaction, 'amount' | 'currency'>): boolean;
  /** A decimal string with two places; below zero when money went back that was paid out before. */
  balance(currency: string): string;
};

/** `startingFloat` is in whole units, and the same in every currency. */
export function createAccountBook(startingFloat: number): AccountBook {
  const sums = new Map<string, bigint>();
  const float = BigInt(startingFloat) * 100n;

  function book(currency: string, hundredths: bigint): void {
    if (hundredths !== 0n) sums.set(currency, (sums.get(currency) ?? 0n) + hundredths);
  }

  function available(currency: string): bigint {
    return float + (sums.get(currency) ?? 0n);
  }

  return {
    replace(before, after) {
      if (before !== undefined) book(before.currency, -movedBy(before));
      if (after !== undefined) book(after.currency, movedBy(after));
    },
    add(hundredthsByCurrency) {
      for (const [currency, hundredths] of Object.entries(hundredthsByCurrency)) book(currency, BigInt(hundredths));
    },
    written: () => Object.fromEntries([...sums].map(([currency, hundredths]) => [currency, hundredths.toString()])),
    covers: ({ amount, currency }) => hundredthsOf(amount) <= available(currency),
    balance: (currency) => toDecimal(available(currency)),
  };
}

function movedBy({ kind, state, amount }: Transaction): bigint {
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

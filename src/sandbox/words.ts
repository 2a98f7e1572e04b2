// Words of the sandbox's pages for people: money, phones, times and states.
import type { PaymentKind } from './behaviours.ts';
import type { Transaction } from './transaction.ts';

export function money({ amount, currency }: Pick<Transaction, 'amount' | 'currency'>): string {
  return `${currency}\u00a0${amount.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',')}`;
}

/** The phone in groups of three digits from the country code on, so that people can compare two numbers at a glance. */
export function phoneInGroups(phone: string): string {
  return phone.replace(/\d{3}(?=\d)/g, '$&\u00a0');
}

/** The outcome of the payment itself. */
export function outcomeText({ state, reason, givenBackAtMs }: Transaction): string {
  if (givenBackAtMs !== null) return 'paid, then given back';
  switch (state) {
    case 'NOT_ACCEPTED':
      return 'not taken';
    case 'PENDING':
      return 'undecided';
    case 'SUCCESSFUL':
      return 'paid';
    case 'FAILED':
      return `not paid (${reason?.code ?? 'no reason'})`;
  }
}

/** A sentence about the state; for an undecided payment it names who or what decides. */
export function stateInWords(transaction: Transaction): string {
  const { state, reason, dueAtMs, givenBackAtMs, kind } = transaction;
  if (givenBackAtMs !== null) return 'Paid, then given back';
  switch (state) {
    case 'NOT_ACCEPTED':
      return 'Refused so far: unavailable';
    case 'PENDING':
      if (dueAtMs !== null) return 'Undecided, ends by itself';
      return kind === 'collection' ? 'Waits for the payer: decide it here' : 'Waits for the operator: decide it here';
    case 'SUCCESSFUL':
      return 'Paid';
    case 'FAILED':
      return `Not paid: ${reason?.message ?? 'no reason'}`;
  }
}

const KINDS: Readonly<Record<PaymentKind, string>> = { collection: 'Collection', payout: 'Payout', refund: 'Refund' };

export function kindInWords(kind: PaymentKind): string {
  return KINDS[kind];
}

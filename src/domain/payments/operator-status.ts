// What operators say of a payment, the same of collections, payouts and refunds, and what follows from it.
import type { FailureCode } from './failure.ts';

/** What the operator says when asked. `unknown`: it could not be asked, or said nothing we may rely on. */
export type OperatorWord =
  | { readonly kind: 'paid' | 'returned'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

/** A word with the moment at which it was asked for, and the proof that a process of ours heard it then. */
export type Heard = {
  readonly word: OperatorWord;
  /** Unix milliseconds, before the question was sent: what it says was not yet true of anything later. */
  readonly askedAtMs: number;
  readonly proof: string;
};

/** What workflows record, of collections, payouts and refunds together. */
export type RecordedFact =
  | { readonly fact: 'prompt_taken' | 'lapsed' | 'outcome_unknown' | 'returned' | 'refunded' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode }
  | { readonly fact: 'never_taken'; readonly askedAtMs: number };

/** Whether recording the fact ends a payment for good, or moves money: only an operator's own word may. */
export function needsWord({ fact }: RecordedFact): boolean {
  return fact !== 'prompt_taken' && fact !== 'lapsed' && fact !== 'outcome_unknown';
}

/** Whether the fact is what the word says. What needs no word follows from any. */
export function followsFrom(fact: RecordedFact, { word, askedAtMs }: Heard): boolean {
  switch (fact.fact) {
    case 'prompt_taken':
    case 'lapsed':
    case 'outcome_unknown':
      return true;
    case 'paid':
      return (word.kind === 'paid' || word.kind === 'returned') && word.operatorReceipt === fact.operatorReceipt;
    case 'refunded':
      return word.kind === 'paid';
    case 'returned':
      return word.kind === 'returned';
    case 'declined':
      return word.kind === 'declined' && word.failureCode === fact.failureCode;
    case 'never_taken':
      return word.kind === 'not_found' && askedAtMs === fact.askedAtMs;
  }
}

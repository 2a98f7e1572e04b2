// What operators say of money that we sent, payouts and refunds alike. Pure, and replayed by workflows.
import type { FailureCode } from './failure.ts';

/** What the operator says when asked. `unknown`: it could not be asked, or said nothing we may rely on. */
export type SentWord =
  | { readonly kind: 'paid' | 'returned'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'pending' | 'not_found' | 'unknown' };

/** A word with the moment at which it was asked for, and the proof that a process of ours heard it then. */
export type Heard = {
  readonly word: SentWord;
  /** Unix milliseconds, before the question was sent: what it says was not yet true of anything later. */
  readonly askedAtMs: number;
  readonly proof: string;
};

/** What workflows record of words, of payouts and refunds together. */
export type SentFact =
  | { readonly fact: 'lapsed' | 'outcome_unknown' | 'returned' | 'refunded' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode }
  | { readonly fact: 'never_taken'; readonly askedAtMs: number };

/** Whether the fact is what the word says. What no operator says, and what moves no money, follows from anything. */
export function followsFrom(fact: SentFact, { word, askedAtMs }: Heard): boolean {
  switch (fact.fact) {
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

/** How far sending got. Times are Unix milliseconds. */
export type Sending = {
  /** Null: it may not be sent yet. */
  readonly sendDeadlineAtMs: number | null;
  /** The operator said once that it has it. */
  readonly isTaken: boolean;
};

/**
 * Whether "never heard of it", asked at that time, says that the operator never took it and never will: no send of ours
 * can have been on its way any more, `notFoundGraceMs` after the last moment at which one may begin, and it never said
 * that it has it.
 */
export function isNeverTaken(
  { sendDeadlineAtMs, isTaken }: Sending,
  askedAtMs: number,
  notFoundGraceMs: number,
): boolean {
  return sendDeadlineAtMs !== null && !isTaken && askedAtMs >= sendDeadlineAtMs + notFoundGraceMs;
}

/** What an operator says of money whose end is recorded otherwise, and that no posting may follow from by itself. */
export type Contradiction =
  | 'paid_after_failed' // the money was given back to the merchant, and the operator paid it too
  | 'declined_after_paid'; // the money left the merchant's balance, and the operator never paid it

export function contradictionIn(state: string, word: SentWord): Contradiction | null {
  if (state === 'failed' && word.kind === 'paid') return 'paid_after_failed';
  return state === 'succeeded' && word.kind === 'declined' ? 'declined_after_paid' : null;
}

// What to make of the operator's word on a refund. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { ReversalState } from './reversal.ts';
import type { OperatorWord } from './operator-status.ts';
import { isNeverTaken, type Sending } from './sent-money.ts';

export type ReversalFact =
  | { readonly fact: 'refunded' | 'outcome_unknown' }
  | { readonly fact: 'declined'; readonly failureCode: FailureCode }
  | { readonly fact: 'never_taken'; readonly askedAtMs: number };

export type ReversalStanding = Sending & { readonly state: ReversalState; readonly sendDeadlineAtMs: number };

/** The fact to record now, or null to go on waiting. As for payouts, nothing is guessed. */
export function reversalFactToRecord(
  standing: ReversalStanding,
  word: OperatorWord,
  askedAtMs: number,
  notFoundGraceMs: number,
): ReversalFact | null {
  const { state, sendDeadlineAtMs } = standing;
  if (state === 'succeeded' || state === 'failed') return null;
  if (word.kind === 'paid') return { fact: 'refunded' };
  if (word.kind === 'declined') return { fact: 'declined', failureCode: word.failureCode };
  if (word.kind === 'not_found' && isNeverTaken(standing, askedAtMs, notFoundGraceMs)) {
    return { fact: 'never_taken', askedAtMs };
  }
  // A refund that came back to us is nothing we know how to book: somebody must look.
  return state === 'requested' && askedAtMs >= sendDeadlineAtMs ? { fact: 'outcome_unknown' } : null;
}

// What to make of the operator's word on a collection. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { CollectionState } from './collection.ts';
import type { FailureCode } from './failure.ts';
import type { OperatorWord } from './operator-status.ts';

/** A fact with what is recorded along with it. */
export type RecordableFact =
  | { readonly fact: 'prompt_taken' }
  | { readonly fact: 'outcome_unknown' | 'returned' }
  | { readonly fact: 'paid'; readonly operatorReceipt: string }
  | { readonly fact: 'declined' | 'lapsed'; readonly failureCode: FailureCode };

/** Where a collection stands, as far as waiting for it goes. Times are Unix milliseconds. */
export type Standing = {
  readonly state: CollectionState;
  readonly promptDeadlineAtMs: number;
  readonly promptExpiresAtMs: number | null;
};

export type Patience = {
  /** How long after the prompt deadline a send may still be on its way to the operator. */
  readonly notFoundGraceMs: number;
  /** How long after the prompt ran out we go on asking for an undecided payment. */
  readonly reconcileForMs: number;
};

/** The operator will say no more of it by itself: nothing to wait for. */
export function isSettled(state: CollectionState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'expired' || state === 'reversed';
}

/**
 * The fact to record now, or null to go on waiting. An outcome is only ever what the operator confirmed; when it stays
 * undecided past all patience the collection lapses as `unknown`, and a payment found later still counts.
 */
export function factToRecord(
  standing: Standing,
  word: OperatorWord,
  nowMs: number,
  patience: Patience,
): RecordableFact | null {
  const { state, promptDeadlineAtMs, promptExpiresAtMs } = standing;
  if (state === 'succeeded') return word.kind === 'returned' ? { fact: 'returned' } : null;
  const settled = settledFact(word);
  if (isSettled(state)) return state === 'expired' && settled?.fact === 'paid' ? settled : null;
  if (state === 'initiated') {
    // It must be known to have been asked for before it can be known to be paid.
    return word.kind === 'pending' || settled !== null
      ? { fact: 'prompt_taken' }
      : undecidedSend(standing, word, nowMs, patience);
  }
  if (settled !== null) return settled;
  if (state === 'prompted') {
    return promptExpiresAtMs !== null && nowMs >= promptExpiresAtMs ? { fact: 'outcome_unknown' } : null;
  }
  if (promptExpiresAtMs === null && isNeverTaken(standing, word, nowMs, patience)) {
    return { fact: 'lapsed', failureCode: 'operator_unavailable' };
  }
  const patienceEndsAtMs = (promptExpiresAtMs ?? promptDeadlineAtMs) + patience.reconcileForMs;
  return nowMs >= patienceEndsAtMs ? { fact: 'lapsed', failureCode: 'unknown' } : null;
}

function settledFact(word: OperatorWord): Extract<RecordableFact, { fact: 'paid' | 'declined' | 'lapsed' }> | null {
  switch (word.kind) {
    case 'paid':
    case 'returned':
      // What was returned was paid before: both are recorded, one after the other.
      return { fact: 'paid', operatorReceipt: word.operatorReceipt };
    case 'declined':
      // A prompt that ran out at the operator is no refusal: the payer may still be found to have paid.
      return { fact: word.failureCode === 'prompt_expired' ? 'lapsed' : 'declined', failureCode: word.failureCode };
    case 'pending':
    case 'not_found':
    case 'unknown':
      return null;
  }
}

// The operator never took it, and none of our sends can still be under way.
function isNeverTaken(standing: Standing, word: OperatorWord, nowMs: number, patience: Patience): boolean {
  return word.kind === 'not_found' && nowMs >= standing.promptDeadlineAtMs + patience.notFoundGraceMs;
}

function undecidedSend(standing: Standing, word: OperatorWord, nowMs: number, patience: Patience): RecordableFact {
  return isNeverTaken(standing, word, nowMs, patience)
    ? { fact: 'lapsed', failureCode: 'operator_unavailable' }
    : { fact: 'outcome_unknown' };
}

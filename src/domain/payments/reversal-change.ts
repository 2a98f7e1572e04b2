// What a transition input makes of a reversal: decided here, recorded elsewhere.
import type { FailureCode } from './failure.ts';
import { isFinal } from './payment.ts';
import { REVERSAL_TRANSITIONS, type Reversal } from './reversal.ts';
import type { ReversalTransitionInput } from './reversal-progress.ts';

export type ReversalChange = {
  readonly before: Reversal;
  readonly after: Reversal;
  /** When the sweep requeues it, should no workflow have moved it by then; null when it is final. */
  readonly checkDueAt: Date | null;
  /** The change stands only while nothing records that the operator accepted the refund. */
  readonly requiresNotAccepted: boolean;
};

/** The change, or null when the input leads nowhere from the present state. */
export function changeReversal(
  before: Reversal,
  input: ReversalTransitionInput,
  at: Date,
  overdueAfterMs: number,
): ReversalChange | null {
  const state = REVERSAL_TRANSITIONS[before.state][input.kind];
  if (state === undefined) return null;
  return {
    before,
    after: { ...before, state, failureCode: failureOf(input), updatedAt: at },
    checkDueAt: isFinal(state) ? null : new Date(at.getTime() + overdueAfterMs),
    requiresNotAccepted: input.kind === 'never_accepted',
  };
}

function failureOf(input: ReversalTransitionInput): FailureCode | null {
  if (input.kind === 'never_accepted') return 'operator_unavailable';
  return input.kind === 'declined' ? input.failureCode : null;
}

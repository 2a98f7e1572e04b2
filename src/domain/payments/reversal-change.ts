// Decides how a transition input changes a reversal. The operations record the change.
import { failureOf, type FailureCause } from './failure.ts';
import { moneyOutCheckDueAt, type SendCheckClocks } from './recorded-send.ts';
import { REVERSAL_TRANSITIONS, type Reversal } from './reversal.ts';
import type { ReversalTransitionInput } from './reversal-progress.ts';

export type ReversalChange = {
  readonly before: Reversal;
  readonly after: Reversal;
  /** When the reversal is checked, unless a workflow has changed it by then; null when nothing more is awaited. */
  readonly checkDueAt: Date | null;
  /** What made it fail; null unless it failed. */
  readonly failedBy: FailureCause | null;
  /** Whether the change may be written only while no acceptance by the operator is recorded. */
  readonly requiresNotAccepted: boolean;
  /** Whether the change may be written only while no try to send it is recorded. */
  readonly requiresNotSent: boolean;
};

/** The change, or null when the current state has no transition for the input. */
export function changeReversal(
  before: Reversal,
  input: ReversalTransitionInput,
  at: Date,
  clocks: SendCheckClocks,
): ReversalChange | null {
  const state = REVERSAL_TRANSITIONS[before.state][input.kind];
  if (state === undefined) return null;
  const isNotNeeded = input.kind === 'never_sent' && before.isCollectionReturned;
  return {
    before,
    after: {
      ...before,
      state,
      failureCode: isNotNeeded ? 'already_returned' : failureOf(input),
      updatedAt: at,
      // The same transaction reverses the collection.
      isCollectionReturned: before.isCollectionReturned || state === 'succeeded',
    },
    checkDueAt: moneyOutCheckDueAt(state, input.kind, at, clocks),
    failedBy: state === 'failed' ? (input.kind as FailureCause) : null,
    requiresNotAccepted: input.kind === 'never_accepted',
    requiresNotSent: input.kind === 'never_sent',
  };
}

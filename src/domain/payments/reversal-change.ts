// Decides how a transition input changes a reversal. The operations record the change.
import { failureOf, type FailureCause } from './failure.ts';
import { moneyOutCheckDueAt, type SendCheckClocks } from './recorded-send.ts';
import { REVERSAL_TRANSITIONS, type Reversal } from './reversal.ts';
import type { UserId } from '../ids.ts';
import type { ReversalTransitionInput } from './reversal-progress.ts';

/** What a transition of a reversal is recorded from: a decision of people, or what its workflow records. */
export type ReversalChangeInput =
  | ReversalTransitionInput
  | { readonly kind: 'released'; readonly sendDeadlineAt: Date; readonly releaseAttestation: string }
  | { readonly kind: 'rejected'; readonly by: UserId; readonly reason: string }
  | { readonly kind: 'cancelled'; readonly by: UserId };

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
  input: ReversalChangeInput,
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
      decidedBy: 'by' in input ? input.by : before.decidedBy,
      rejectionReason: 'reason' in input ? input.reason : before.rejectionReason,
      sendDeadlineAt: 'sendDeadlineAt' in input ? input.sendDeadlineAt : before.sendDeadlineAt,
      releaseAttestation: 'releaseAttestation' in input ? input.releaseAttestation : before.releaseAttestation,
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

// What follows from an operator status of a refund. Pure, and replayed by workflows: the same inputs always give the same result.
import type { FailureCode } from './failure.ts';
import type { AttestedStatus } from './operator-status.ts';
import type { ReversalState } from './reversal.ts';
import { isNeverAccepted, type SendProgress } from './send-progress.ts';

export type ReversalTransitionInput =
  | { readonly kind: 'refunded' | 'outcome_unknown' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

export type ReversalSnapshot = SendProgress & { readonly state: ReversalState; readonly sendDeadlineAtMs: number };

/** The transition to record now, or null to go on waiting. As for payouts, no outcome is guessed. */
export function nextReversalTransition(
  snapshot: ReversalSnapshot,
  { status, queriedAtMs }: Omit<AttestedStatus, 'attestation'>,
  notFoundGraceMs: number,
): ReversalTransitionInput | null {
  const { state, sendDeadlineAtMs } = snapshot;
  if (state === 'succeeded' || state === 'failed') return null;
  if (status.kind === 'paid') return { kind: 'refunded' };
  if (status.kind === 'declined') return { kind: 'declined', failureCode: status.failureCode };
  if (status.kind === 'not_found' && isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) {
    return { kind: 'never_accepted', queriedAtMs };
  }
  // The ledger has no posting for a refund that came back to us: it stays pending until a person looks at it.
  return state === 'requested' && queriedAtMs >= sendDeadlineAtMs ? { kind: 'outcome_unknown' } : null;
}

// Decides which transition of a reversal follows from an operator status of its refund.
// Pure: the same inputs always give the same result.
import type { FailureCode } from './failure.ts';
import type { QueriedStatus } from './operator-status.ts';
import type { ReversalState } from './reversal.ts';
import { isNeverAccepted, isNeverSent, type SendProgress } from './send-progress.ts';

/** What a reversal's workflow records a transition from. Decisions of people are recorded by their own operations. */
export type ReversalTransitionInput =
  | { readonly kind: 'refunded' | 'approval_expired' | 'outcome_unknown' | 'never_sent' }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** The part of a reversal from which its next step is decided. Times are Unix milliseconds. */
export type ReversalSnapshot = SendProgress & {
  readonly state: ReversalState;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
  /** Whether its collection is reversed, so that no refund may be sent. */
  readonly isCollectionReturned: boolean;
};

/** Whether nobody tried to send the refund, and nobody may any more: it is too late, or not needed. */
export function isRefundNeverSent(
  snapshot: Pick<ReversalSnapshot, 'isSendBegun' | 'sendDeadlineAtMs' | 'isCollectionReturned'>,
  atMs: number,
): boolean {
  const isReleased = snapshot.sendDeadlineAtMs !== null;
  return isNeverSent(snapshot, atMs) || (isReleased && !snapshot.isSendBegun && snapshot.isCollectionReturned);
}

/** The transition to record now, or null to keep waiting. An outcome is always what the operator confirmed. */
export function nextReversalTransition(
  snapshot: ReversalSnapshot,
  { status, queriedAtMs }: QueriedStatus,
  notFoundGraceMs: number,
): ReversalTransitionInput | null {
  const { state, sendDeadlineAtMs } = snapshot;
  if ((state !== 'released' && state !== 'reconciling') || sendDeadlineAtMs === null) return null;
  if (status.kind === 'paid') return { kind: 'refunded' };
  if (status.kind === 'declined') return { kind: 'declined', failureCode: status.failureCode };
  const isProvenNotFound = status.kind === 'not_found' && snapshot.hasNotFoundEvidence;
  if (isProvenNotFound && isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) {
    return { kind: 'never_accepted', queriedAtMs };
  }
  // The ledger has no posting for a refund that came back to us: it stays pending until a person looks at it.
  const isOverdue = queriedAtMs >= sendDeadlineAtMs || status.kind === 'paid_otherwise';
  return state === 'released' && isOverdue ? { kind: 'outcome_unknown' } : null;
}

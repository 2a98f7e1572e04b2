// Decides which transition of a payout follows from an operator status.
// Pure: the same inputs always give the same result.
import type { FailureCode } from './failure.ts';
import type { QueriedStatus } from './operator-status.ts';
import type { PayoutState } from './payout.ts';
import { isNeverAccepted, type SendProgress } from './send-progress.ts';

/** What a payout's workflow records a transition from. Decisions of people are recorded by their own operations. */
export type PayoutOutcomeInput =
  | { readonly kind: 'approval_expired' | 'outcome_unknown' | 'never_sent' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** The part of a payout from which its next step is decided. Times are Unix milliseconds. */
export type PayoutSnapshot = SendProgress & {
  readonly state: PayoutState;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
};

/**
 * The transition to record now, or null to keep waiting. An outcome is always what the operator confirmed when it was
 * queried; until then the money stays held.
 */
export function nextPayoutTransition(
  snapshot: PayoutSnapshot,
  { status, queriedAtMs }: QueriedStatus,
  notFoundGraceMs: number,
): PayoutOutcomeInput | null {
  const { state, sendDeadlineAtMs } = snapshot;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  if ((state !== 'released' && state !== 'reconciling') || sendDeadlineAtMs === null) return null;
  const isOverdue = state === 'released' && queriedAtMs >= sendDeadlineAtMs;
  switch (status.kind) {
    case 'paid':
    case 'returned':
      // A returned payout was paid before: `paid` is posted first, and `returned` after it.
      return { kind: 'paid', operatorReceipt: status.operatorReceipt };
    case 'declined':
      return { kind: 'declined', failureCode: status.failureCode };
    case 'not_found':
      if (snapshot.hasNotFoundEvidence && isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) {
        return { kind: 'never_accepted', queriedAtMs };
      }
      return isOverdue ? { kind: 'outcome_unknown' } : null;
    case 'paid_otherwise':
      return state === 'released' ? { kind: 'outcome_unknown' } : null;
    // The answer to a send is not the answer to a query.
    case 'refused':
    case 'pending':
    case 'unreadable':
    case 'unknown':
      return isOverdue ? { kind: 'outcome_unknown' } : null;
  }
}

// What to make of the operator's word on a payout. Pure, and replayed by workflows: same inputs, same answer for ever.
import type { FailureCode } from './failure.ts';
import type { PayoutState } from './payout.ts';
import type { OperatorStatus } from './operator-status.ts';
import { isNeverAccepted, type Sending } from './sent-money.ts';

/** A fact that a workflow records, with what is recorded along with it. What people decide is recorded elsewhere. */
export type PayoutOutcomeInput =
  | { readonly kind: 'approval_expired' | 'outcome_unknown' | 'returned' }
  | { readonly kind: 'paid'; readonly operatorReceipt: string }
  | { readonly kind: 'declined'; readonly failureCode: FailureCode }
  | { readonly kind: 'never_accepted'; readonly queriedAtMs: number };

/** Where a payout stands, as far as waiting for it goes. Times are Unix milliseconds. */
export type PayoutSnapshot = Sending & {
  readonly state: PayoutState;
  readonly approvals: number;
  readonly approvalsRequired: number;
  readonly expiresAtMs: number;
};

/**
 * The fact to record now, or null to go on waiting. An outcome is only ever what the operator confirmed when it was asked
 * at `askedAtMs`; while it stays undecided the money stays held.
 */
export function nextPayoutTransition(
  snapshot: PayoutSnapshot,
  status: OperatorStatus,
  queriedAtMs: number,
  notFoundGraceMs: number,
): PayoutOutcomeInput | null {
  const { state, sendDeadlineAtMs } = snapshot;
  if (state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  if ((state !== 'released' && state !== 'reconciling') || sendDeadlineAtMs === null) return null;
  switch (status.kind) {
    case 'paid':
    case 'returned':
      // What was returned was paid before: both are booked, one after the other.
      return { kind: 'paid', operatorReceipt: status.operatorReceipt };
    case 'declined':
      return { kind: 'declined', failureCode: status.failureCode };
    case 'not_found':
      if (isNeverAccepted(snapshot, queriedAtMs, notFoundGraceMs)) return { kind: 'never_accepted', queriedAtMs };
      return overdue(state, queriedAtMs, sendDeadlineAtMs);
    case 'pending':
    case 'unknown':
      return overdue(state, queriedAtMs, sendDeadlineAtMs);
  }
}

function overdue(state: PayoutState, queriedAtMs: number, sendDeadlineAtMs: number): PayoutOutcomeInput | null {
  return state === 'released' && queriedAtMs >= sendDeadlineAtMs ? { kind: 'outcome_unknown' } : null;
}

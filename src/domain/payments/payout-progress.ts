// Decides which transition of a payout follows from an operator status.
// Pure: the same inputs always give the same result.
import type { QueriedStatus } from './operator-status.ts';
import type { PayoutState } from './payout.ts';
import { isBeingSent, nextOfUnpaid, type MoneyOutSnapshot, type UnpaidInput } from './send-progress.ts';

/** The transition inputs that a payout's workflow records. Decisions of people are recorded by their own operations. */
export type PayoutOutcomeInput =
  UnpaidInput | { readonly kind: 'paid'; readonly operatorReceipt: string | null } | { readonly kind: 'returned' };

export type PayoutSnapshot = MoneyOutSnapshot<PayoutState>;

/** The transition to record now, or null to keep waiting. Only what the operator confirmed ends the hold. */
export function nextPayoutTransition(
  snapshot: PayoutSnapshot,
  queried: QueriedStatus,
  notFoundGraceMs: number,
): PayoutOutcomeInput | null {
  const { status } = queried;
  if (snapshot.state === 'succeeded') return status.kind === 'returned' ? { kind: 'returned' } : null;
  if (!isBeingSent(snapshot)) return null;
  // A returned payout was paid before: `paid` is posted first, and `returned` after it.
  const isPaid = status.kind === 'paid' || status.kind === 'returned';
  if (isPaid) return { kind: 'paid', operatorReceipt: status.operatorReceipt };
  return nextOfUnpaid(snapshot, queried, notFoundGraceMs);
}

// Decides which transition of a reversal follows from an operator status of its refund.
// Pure: the same inputs always give the same result.
import type { QueriedStatus } from './operator-status.ts';
import type { ReversalState } from './reversal.ts';
import { isBeingSent, isNeverSent, nextOfUnpaid, type MoneyOutSnapshot, type UnpaidInput } from './send-progress.ts';

/** The transition inputs that a reversal's workflow records. Decisions of people are recorded by their own operations. */
export type ReversalTransitionInput = UnpaidInput | { readonly kind: 'refunded' };

export type ReversalSnapshot = MoneyOutSnapshot<ReversalState> & {
  /** Whether its collection is reversed, so that no refund may be sent. */
  readonly isCollectionReturned: boolean;
};

/** Whether nobody tried to send the refund, and nobody may any more: it is too late, or the operator returned the collection. */
export function isRefundNeverSent(
  snapshot: Pick<ReversalSnapshot, 'isSendBegun' | 'sendDeadlineAtMs' | 'isCollectionReturned'>,
  atMs: number,
): boolean {
  const isReleased = snapshot.sendDeadlineAtMs !== null;
  return isNeverSent(snapshot, atMs) || (isReleased && !snapshot.isSendBegun && snapshot.isCollectionReturned);
}

/**
 * The transition to record now, or null to keep waiting. The operator confirms every outcome. The ledger has no posting for a refund that
 * came back to us: the refund stays pending until a person looks at it.
 */
export function nextReversalTransition(
  snapshot: ReversalSnapshot,
  queried: QueriedStatus,
  notFoundGraceMs: number,
): ReversalTransitionInput | null {
  if (!isBeingSent(snapshot)) return null;
  return queried.status.kind === 'paid' ? { kind: 'refunded' } : nextOfUnpaid(snapshot, queried, notFoundGraceMs);
}

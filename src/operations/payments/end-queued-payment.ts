// Ends a payout or refund without sending it: an approver rejects it while it is queued, or its maker cancels it until a send begins.
import { recordAct } from '../../db/accounts/audit.ts';
import { withRequestId } from '../../db/platform/database.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { lockMoneyOut, recordDecision } from '../../db/payments/payment.ts';
import { holdsOneOf, permissionDenied, type ByPerson, type Role } from '../../domain/accounts/member.ts';
import type { MoneyOut, MoneyOutKind, Payment } from '../../domain/payments/payment.ts';
import type { Decision } from '../../domain/payments/payment-change.ts';
import { isCancellable, notQueued, notReleasedByUs, sendBegun } from '../../domain/payments/release.ts';
import type { PaymentContext } from './payment-context.ts';

type Ending = { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'cancel' };

export type EndQueuedPayment<Kind extends MoneyOutKind = MoneyOutKind> = ByPerson & {
  readonly kind: Kind;
  readonly id: string;
  readonly decision: Ending;
};

/**
 * The maker may cancel a released payment until its send begins. The row allows only one of cancellation and send, so that money is
 * available again or sent, and never both. One transaction ends the payment, and writes the audit entry and, for a payout, the event. It
 * voids the hold of a payout; the amount of a refund counts as available again. Repeating the same decision by the same person changes
 * nothing and returns the same payment. Throws `payout_not_found` or `reversal_not_found`, `permission_denied`, and `state_conflict`, also
 * for the cancellation of a release that this service did not record: the person who wrote the release may also have written that nothing
 * was sent.
 */
export async function endQueuedPayment<Kind extends MoneyOutKind>(
  { db, environment, clocks, releases }: PaymentContext,
  input: EndQueuedPayment<Kind>,
): Promise<Payment<Kind>> {
  const { kind, id, by, at } = input;
  const { merchantId, userId } = by.person;
  const ended = await db.withTransaction(async (tx) => {
    const roles = await findRolesLocked(tx, merchantId, userId);
    const payment = await lockMoneyOut(tx, kind, merchantId, id);
    checkMayEnd(payment, roles, input);
    if (isRepeat(payment, input)) return payment;
    if (payment.state === 'released' && input.decision.kind === 'cancel') {
      if (!isCancellable(payment)) throw sendBegun(payment);
      if (!releases.isReleaseAttested(payment)) throw notReleasedByUs(payment);
    }
    const recording = { environment, clocks, at };
    const after = await recordDecision(withRequestId(tx, by.requestId), payment, decisionOf(input), recording);
    if (after === null) throw notQueued(payment);
    await recordAct(tx, by, {
      action: `${kind}.${after.state}`,
      subjectId: after.id,
      before: { state: payment.state },
      after: { state: after.state, rejection_reason: after.rejectionReason },
      at,
    });
    return after;
  });
  return ended as Payment<Kind>;
}

function decisionOf({ decision, by: { person } }: EndQueuedPayment): Decision {
  const by = person.userId;
  return decision.kind === 'reject' ? { kind: 'rejected', by, reason: decision.reason } : { kind: 'cancelled', by };
}

function checkMayEnd(payment: MoneyOut, roles: readonly Role[], { decision, by }: EndQueuedPayment): void {
  if (decision.kind === 'reject') {
    if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('no longer an approver');
  } else if (payment.createdBy !== by.person.userId || roles.length === 0) {
    throw permissionDenied('not the maker of the payment');
  }
}

function isRepeat(payment: MoneyOut, { decision, by }: EndQueuedPayment): boolean {
  if (payment.decidedBy !== by.person.userId) return false;
  return decision.kind === 'reject' ? payment.rejectionReason === decision.reason : payment.state === 'cancelled';
}

// Ends a queued payout or refund without sending it: an approver rejects it, or its maker cancels it.
import { recordAct } from '../../db/accounts/audit.ts';
import { asRequested } from '../../db/platform/database.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Role } from '../../domain/accounts/member.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { notQueued } from '../../domain/payments/release.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import {
  APPROVABLE_PAYOUT,
  APPROVABLE_REFUND,
  type ApprovableKind,
  type ApprovablePayment,
  type Decision,
} from '../../db/payments/approvable-payment.ts';
import type { PaymentContext } from './payment-context.ts';

type Ending = { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'cancel' };
type EndQueued = { readonly by: ActedBy; readonly decision: Ending; readonly at: Date };

export type EndQueuedPayout = EndQueued & { readonly payoutId: string };
export type EndQueuedReversal = EndQueued & { readonly reversalId: string };

/**
 * One transaction ends the payout, voids its hold, and writes the event and the audit entry. Repeating the same
 * decision by the same person changes nothing and returns the same payout. Throws `payout_not_found`,
 * `permission_denied` and `state_conflict`.
 */
export async function endQueuedPayout(context: PaymentContext, input: EndQueuedPayout): Promise<Payout> {
  return endQueued(context, input, { kind: APPROVABLE_PAYOUT, id: input.payoutId });
}

/**
 * The same for a refund, of which nothing was held: its amount counts as available again. Throws `reversal_not_found`,
 * `permission_denied` and `state_conflict`.
 */
export async function endQueuedReversal(context: PaymentContext, input: EndQueuedReversal): Promise<Reversal> {
  return endQueued(context, input, { kind: APPROVABLE_REFUND, id: input.reversalId });
}

async function endQueued<Payment extends ApprovablePayment>(
  { db, environment, clocks }: PaymentContext,
  input: EndQueued,
  { kind, id }: { readonly kind: ApprovableKind<Payment>; readonly id: string },
): Promise<Payment> {
  const { by, at } = input;
  const { merchantId, userId } = by.person;
  return db.withTransaction(async (tx) => {
    const roles = await findRolesLocked(tx, merchantId, userId);
    const payment = await kind.findLocked(tx, merchantId, id);
    if (payment === null) throw kind.notFound();
    checkMayEnd(payment, roles, input);
    if (isRepeat(payment, input)) return payment;
    const after = await kind.record(asRequested(tx, by.requestId), payment, decisionOf(input), {
      environment,
      clocks,
      at,
    });
    if (after === null) throw notQueued(payment);
    await recordAct(tx, by, {
      action: `${kind.noun}.${after.state}`,
      subjectId: after.id,
      before: { state: payment.state },
      after: { state: after.state, rejection_reason: after.rejectionReason },
      at,
    });
    return after;
  });
}

function decisionOf({ decision, by: { person } }: EndQueued): Decision {
  const by = person.userId;
  return decision.kind === 'reject' ? { kind: 'rejected', by, reason: decision.reason } : { kind: 'cancelled', by };
}

function checkMayEnd(payment: ApprovablePayment, roles: readonly Role[], { decision, by }: EndQueued): void {
  if (decision.kind === 'reject') {
    if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('no longer an approver');
  } else if (payment.createdBy !== by.person.userId || roles.length === 0) {
    throw permissionDenied('not the maker of the payment');
  }
}

function isRepeat(payment: ApprovablePayment, { decision, by }: EndQueued): boolean {
  if (payment.decidedBy !== by.person.userId) return false;
  return decision.kind === 'reject' ? payment.rejectionReason === decision.reason : payment.state === 'cancelled';
}

// Ends a queued payout or refund without sending it: an approver rejects it, or its maker cancels it.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Tx } from '../../db/database.ts';
import { findMemberRolesLocked } from '../../db/payments/approval.ts';
import { recordPayoutChange } from '../../db/payments/payout-change.ts';
import { findPayoutLocked } from '../../db/payments/payout.ts';
import { findReversalLocked, updateReversal } from '../../db/payments/reversal.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId, type UserId } from '../../domain/ids.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Role } from '../../domain/accounts/member.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import { notQueued } from '../../domain/payments/release.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { changeReversal } from '../../domain/payments/reversal-change.ts';
import type { PaymentContext } from './payment-context.ts';

type Decision = { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'cancel' };
type EndQueued = { readonly by: ActedBy; readonly decision: Decision; readonly at: Date };

export type EndQueuedPayout = EndQueued & { readonly payoutId: string };
export type EndQueuedReversal = EndQueued & { readonly reversalId: string };

/**
 * One transaction ends the payout, voids its hold, and writes the event and the audit entry. Repeating the same
 * decision by the same person changes nothing and returns the same payout. Throws `payout_not_found`,
 * `permission_denied` and `state_conflict`.
 */
export async function endQueuedPayout(context: PaymentContext, input: EndQueuedPayout): Promise<Payout> {
  const { environment, clocks } = context;
  return context.db.withTransaction(async (tx) => {
    const { merchantId, userId } = input.by.person;
    const roles = await findMemberRolesLocked(tx, merchantId, userId);
    const payout = isId('pay', input.payoutId) ? await findPayoutLocked(tx, merchantId, input.payoutId) : null;
    if (payout === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
    checkMayEnd(payout, roles, input);
    if (isRepeat(payout, input)) return payout;
    const change = changePayout(payout, transitionOf(input), input.at, clocks);
    if (change === null) throw notQueued(payout);
    const isRecorded = await recordPayoutChange(tx, change, environment);
    if (!isRecorded) throw new Error(`payout ${payout.id} changed while it was locked`);
    await recordEnd(tx, { noun: 'payout', before: payout, after: change.after }, input);
    return change.after;
  });
}

/**
 * The same for a refund, of which nothing was held: its amount counts as available again. Throws `reversal_not_found`,
 * `permission_denied` and `state_conflict`.
 */
export async function endQueuedReversal(context: PaymentContext, input: EndQueuedReversal): Promise<Reversal> {
  return context.db.withTransaction(async (tx) => {
    const { merchantId, userId } = input.by.person;
    const roles = await findMemberRolesLocked(tx, merchantId, userId);
    const reversal = isId('rev', input.reversalId) ? await findReversalLocked(tx, merchantId, input.reversalId) : null;
    if (reversal === null) throw new DomainError('reversal_not_found', 'There is no reversal with this id.');
    checkMayEnd(reversal, roles, input);
    if (isRepeat(reversal, input)) return reversal;
    const change = changeReversal(reversal, transitionOf(input), input.at, context.clocks);
    if (change === null) throw notQueued(reversal);
    if (!(await updateReversal(tx, change))) throw new Error(`reversal ${reversal.id} changed while it was locked`);
    await recordEnd(tx, { noun: 'reversal', before: reversal, after: change.after }, input);
    return change.after;
  });
}

function transitionOf({ decision, by: { person } }: EndQueued) {
  const by: UserId = person.userId;
  return decision.kind === 'reject'
    ? ({ kind: 'rejected', by, reason: decision.reason } as const)
    : ({ kind: 'cancelled', by } as const);
}

type Ended = {
  readonly noun: 'payout' | 'reversal';
  readonly before: Payout | Reversal;
  readonly after: Payout | Reversal;
};

async function recordEnd(tx: Tx, { noun, before, after }: Ended, { by, at }: EndQueued): Promise<void> {
  await recordAct(tx, by, {
    action: `${noun}.${after.state}`,
    subjectId: after.id,
    before: { state: before.state },
    after: { state: after.state, rejection_reason: after.rejectionReason },
    at,
  });
}

function checkMayEnd(payment: Payout | Reversal, roles: readonly Role[], { decision, by }: EndQueued): void {
  if (decision.kind === 'reject') {
    if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('not an approver any more');
  } else if (payment.createdBy !== by.person.userId || roles.length === 0) {
    throw permissionDenied('not the maker of the payment');
  }
}

function isRepeat(payment: Payout | Reversal, { decision, by }: EndQueued): boolean {
  if (payment.decidedBy !== by.person.userId) return false;
  return decision.kind === 'reject' ? payment.rejectionReason === decision.reason : payment.state === 'cancelled';
}

// Ends a queued payout without sending it: an approver rejects it, or its maker cancels it.
import { recordAct } from '../../db/accounts/audit.ts';
import type { Tx } from '../../db/database.ts';
import { findMemberRolesLocked } from '../../db/payments/payout-approval.ts';
import { recordPayoutChange } from '../../db/payments/payout-change.ts';
import { findPayoutLocked } from '../../db/payments/payout.ts';
import { DomainError } from '../../domain/errors.ts';
import { isId } from '../../domain/ids.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Role } from '../../domain/accounts/member.ts';
import type { Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import { notQueued } from '../../domain/payments/release.ts';
import type { PaymentContext } from './payment-context.ts';

export type EndQueuedPayout = {
  readonly by: ActedBy;
  readonly payoutId: string;
  readonly decision: { readonly kind: 'reject'; readonly reason: string } | { readonly kind: 'cancel' };
  readonly at: Date;
};

/**
 * One transaction ends the payout, voids its hold, and writes the event and the audit entry. Repeating the same
 * decision by the same person changes nothing and returns the same payout. Throws `payout_not_found`,
 * `permission_denied` and `state_conflict`.
 */
export async function endQueuedPayout(context: PaymentContext, input: EndQueuedPayout): Promise<Payout> {
  return context.db.withTransaction((tx) => end(tx, input, context));
}

async function end(tx: Tx, input: EndQueuedPayout, { environment, clocks }: PaymentContext): Promise<Payout> {
  const { at, decision, by } = input;
  const { merchantId, userId } = by.person;
  const roles = await findMemberRolesLocked(tx, merchantId, userId);
  const payout = isId('pay', input.payoutId) ? await findPayoutLocked(tx, merchantId, input.payoutId) : null;
  if (payout === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
  checkMayEnd(payout, roles, input);
  if (isRepeat(payout, input)) return payout;
  const transition =
    decision.kind === 'reject'
      ? ({ kind: 'rejected', by: userId, reason: decision.reason } as const)
      : ({ kind: 'cancelled', by: userId } as const);
  const change = changePayout(payout, transition, at, clocks);
  if (change === null) throw notQueued(payout);
  const { after } = change;
  const isRecorded = await recordPayoutChange(tx, change, environment);
  if (!isRecorded) throw new Error(`payout ${payout.id} changed while it was locked`);
  await recordAct(tx, by, {
    action: `payout.${after.state}`,
    subjectId: payout.id,
    before: { state: payout.state },
    after: { state: after.state, rejection_reason: after.rejectionReason },
    at,
  });
  return after;
}

function checkMayEnd(payout: Payout, roles: readonly Role[], { decision, by }: EndQueuedPayout): void {
  if (decision.kind === 'reject') {
    if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('not an approver any more');
  } else if (payout.createdBy !== by.person.userId || roles.length === 0) {
    throw permissionDenied('not the maker of the payout');
  }
}

function isRepeat(payout: Payout, { decision, by }: EndQueuedPayout): boolean {
  if (payout.decidedBy !== by.person.userId) return false;
  return decision.kind === 'reject' ? payout.rejectionReason === decision.reason : payout.state === 'cancelled';
}

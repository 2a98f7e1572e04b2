// Releases a payout: records that a second person agreed, and with enough of them that it may be sent.
import type { Database, Tx } from '../db/database.ts';
import { recordAct } from '../db/audit.ts';
import { claimIdempotencyKey, keepAnswer, type KeyedRequest, type StoredAnswer } from '../db/idempotency-key.ts';
import {
  countStandingApprovals,
  findMemberRolesLocked,
  insertApproval,
  sumApprovedSince,
} from '../db/payout-approval.ts';
import { recordPayoutChange, requireApprovals } from '../db/payout-change.ts';
import { findPayoutLocked } from '../db/payout.ts';
import { findPolicy } from '../db/policy.ts';
import { newDeliveryIds } from '../domain/endpoint.ts';
import { DomainError } from '../domain/errors.ts';
import { payoutEvent, type Environment } from '../domain/event.ts';
import { isId, newId } from '../domain/ids.ts';
import { requestFingerprint } from '../domain/idempotency.ts';
import { holdsOneOf, permissionDenied, type ActedBy } from '../domain/member.ts';
import { payoutObject, type Payout } from '../domain/payout.ts';
import { changePayout } from '../domain/payout-change.ts';
import { approvalsRequired, checkRelease, DAILY_LIMIT_WINDOW_MS } from '../domain/release.ts';

export type ReleasePayout = {
  readonly by: ActedBy;
  readonly payoutId: string;
  /** Null where the caller keeps the answer of many releases itself. */
  readonly idempotencyKey: string | null;
  readonly environment: Environment;
  /** How long after the release sends to the operator may begin. */
  readonly sendDeadlineMs: number;
  readonly overdueAfterMs: number;
  readonly idempotencyKeptForMs: number;
  readonly at: Date;
};

export type ReleasedPayout =
  | { readonly kind: 'approved'; readonly answer: StoredAnswer; readonly payout: Payout }
  | { readonly kind: 'replayed'; readonly answer: StoredAnswer };

/**
 * One transaction records the approval, the release when the payout has all it needs, the event, the audit entry and the
 * kept answer. The rule of two persons is checked against what is true within it: the payout, the person's roles and what
 * they released are locked, and the database checks the approval once more by itself. Throws `payout_not_found`,
 * `approval_self`, `state_conflict`, `permission_denied`, and what `claimIdempotencyKey` throws; nothing is recorded then.
 */
export async function releasePayout(db: Database, input: ReleasePayout): Promise<ReleasedPayout> {
  const { person } = input.by;
  const request: KeyedRequest | null =
    input.idempotencyKey === null
      ? null
      : {
          merchantId: person.merchantId,
          key: input.idempotencyKey,
          fingerprint: requestFingerprint('POST', `/v1/console/payouts/${input.payoutId}/release`, person.userId),
          at: input.at,
          keptForMs: input.idempotencyKeptForMs,
        };
  return db.withTransaction(async (tx) => {
    const kept = request && (await claimIdempotencyKey(tx, request));
    if (kept) return { kind: 'replayed', answer: kept };
    const payout = await approve(tx, input);
    const answer = { status: 200, body: JSON.stringify(payoutObject(payout)) };
    if (request) await keepAnswer(tx, request, answer);
    return { kind: 'approved', answer, payout };
  });
}

async function approve(tx: Tx, input: ReleasePayout): Promise<Payout> {
  const { at } = input;
  const { person } = input.by;
  const { merchantId, userId } = person;
  const roles = await findMemberRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('not an approver any more');
  const payout = isId('pay', input.payoutId) ? await findPayoutLocked(tx, merchantId, input.payoutId) : null;
  if (payout === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
  // A repeat, by a person whose approval is there already: it releases nothing while another's is awaited.
  const own = payout.approvals.find((approval) => approval.userId === userId);
  const isRepeat = payout.state === 'queued' && own !== undefined;
  if (isRepeat && (await countStandingApprovals(tx, payout.id)) < payout.approvalsRequired) return payout;
  const policy = await findPolicy(tx, merchantId);
  const since = new Date(at.getTime() - DAILY_LIMIT_WINDOW_MS);
  const approvedMinor = await sumApprovedSince(tx, merchantId, userId, since);
  const isCounted = own !== undefined && own.approvedAt > since;
  const releasedMinor = isCounted ? approvedMinor - payout.amountMinor : approvedMinor;
  checkRelease({ payout, person, policy, releasedMinor, at });
  if (!isRepeat) await insertApproval(tx, { payoutId: payout.id, userId, merchantId, at });
  const approved: Payout = {
    ...payout,
    approvals: isRepeat ? payout.approvals : [...payout.approvals, { userId, approvedAt: at }],
    // A policy that became stricter holds for what is queued already; one that became looser does not.
    approvalsRequired: Math.max(payout.approvalsRequired, approvalsRequired(policy, payout.amountMinor)),
  };
  const isReleased = (await countStandingApprovals(tx, payout.id)) >= approved.approvalsRequired;
  const after = isReleased ? await release(tx, approved, input) : await waitForAnother(tx, approved, at);
  await recordAct(tx, input.by, {
    action: isReleased ? 'payout.released' : 'payout.approved',
    subjectId: payout.id,
    before: { state: payout.state, approvals: payout.approvals.length },
    after: { state: after.state, approvals: after.approvals.length },
    at,
  });
  return after;
}

async function release(tx: Tx, approved: Payout, input: ReleasePayout): Promise<Payout> {
  const { at, environment } = input;
  const sendDeadlineAt = new Date(at.getTime() + input.sendDeadlineMs);
  const change = changePayout(approved, { fact: 'approved', sendDeadlineAt }, at, input.overdueAfterMs);
  if (change === null) throw new Error(`payout ${approved.id} could not be released from ${approved.state}`);
  const id = newId('evt', at.getTime());
  const isRecorded = await recordPayoutChange(tx, change, {
    posting: null,
    event: { id, ...payoutEvent(change.after, { id, at, environment }) },
    deliveryIds: newDeliveryIds(at),
    at,
  });
  if (!isRecorded) throw new Error(`payout ${approved.id} changed while it was locked`);
  return change.after;
}

async function waitForAnother(tx: Tx, approved: Payout, at: Date): Promise<Payout> {
  await requireApprovals(tx, approved.id, approved.approvalsRequired, at);
  return { ...approved, updatedAt: at };
}

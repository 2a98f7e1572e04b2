// Releases payouts: records the approval of a person, and releases the payout when it has enough approvals.
import { recordAct, recordRefusal } from '../../db/accounts/audit.ts';
import { withSavepoint, type Tx } from '../../db/database.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type KeyedRequest,
  type StoredResponse,
} from '../../db/payments/idempotency-key.ts';
import {
  countApprovers,
  findMemberRolesLocked,
  insertApproval,
  sumApprovedSince,
} from '../../db/payments/payout-approval.ts';
import { recordPayoutChange, requireApprovals } from '../../db/payments/payout-change.ts';
import { findPayout, findPayoutLocked, lockPayouts } from '../../db/payments/payout.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireMoneyMover, requireTwoOwners } from '../../db/accounts/waiting-time.ts';
import { REFUSALS } from '../../domain/accounts/audit.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { isId } from '../../domain/ids.ts';
import { requestFingerprint } from '../../security/request-fingerprint.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Person } from '../../domain/accounts/member.ts';
import { approvalState, payoutObject, type Payout } from '../../domain/payments/payout.ts';
import { changePayout } from '../../domain/payments/payout-change.ts';
import {
  approvalsRequired,
  checkRelease,
  checkSecondFactor,
  DAILY_LIMIT_WINDOW_MS,
} from '../../domain/payments/release.ts';
import { checkBeforeDeadlineMs } from '../../domain/work.ts';
import type { PaymentContext } from './payment-context.ts';

type Release = {
  readonly by: ActedBy;
  readonly idempotencyKey: string;
  readonly at: Date;
};
type Context = Omit<PaymentContext, 'db'>;

export type ReleasePayout = Release & { readonly payoutId: string };
export type ReleasePayouts = Release & { readonly payoutIds: readonly string[] };

type Replayed = { readonly kind: 'replayed'; readonly response: StoredResponse };
export type ReleasedPayout =
  { readonly kind: 'approved'; readonly response: StoredResponse; readonly payout: Payout } | Replayed;
/** `payouts` are the payouts that this call approved. */
export type ReleasedPayouts =
  { readonly kind: 'approved'; readonly response: StoredResponse; readonly payouts: readonly Payout[] } | Replayed;

/**
 * One transaction records the approval, the release if the payout now has all the approvals it needs, the event, the
 * audit entry and the stored response. It checks the two-person rule on locked rows (the payout, the person's roles and
 * what they released), and the database checks the approval once more by itself. Throws `payout_not_found`,
 * `approval_self`, `state_conflict`, `permission_denied`, and what `claimIdempotencyKey` throws; nothing is recorded
 * then.
 */
export async function releasePayout(context: PaymentContext, input: ReleasePayout): Promise<ReleasedPayout> {
  const { userId } = input.by.person;
  const path = `/v1/console/payouts/${input.payoutId}/release`;
  const request = keyed(input, requestFingerprint('POST', path, userId));
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    const payout = await approve(tx, input.payoutId, input, context);
    const response = { status: 200, body: JSON.stringify(payoutObject(payout)) };
    await storeResponse(tx, request, response);
    return { kind: 'approved', response, payout };
  });
}

const MANY = '/v1/console/payouts/release';

/**
 * The same for several payouts in one transaction: each is approved or refused by itself, in the order of the request,
 * and the stored response says which. A failure before the commit leaves nothing recorded and the key free. A
 * concurrent call with the same key gets `idempotency_key_in_flight`. A payout that this person released before counts
 * as released. Refusals of the person are recorded in the audit log. Throws `permission_denied` for a person who may
 * release nothing now, `state_conflict` while the merchant needs a second owner, and what `claimIdempotencyKey` throws.
 */
export async function releasePayouts(context: PaymentContext, input: ReleasePayouts): Promise<ReleasedPayouts> {
  const { person } = input.by;
  const ids = input.payoutIds;
  const request = keyed(input, requestFingerprint('POST', MANY, { userId: person.userId, ids }));
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    // Locked in the same order as by the release of one payout: the person, then the payouts.
    const policy = await requireApprover(tx, person, context.environment, input.at);
    // Refused for all payouts together, and not stored: after a step-up the same key can be used.
    checkSecondFactor(person, policy, input.at);
    await lockPayouts(tx, person.merchantId, ids);
    const payouts: Payout[] = [];
    const data = [];
    for (const id of ids) {
      const { payout, error, isNew } = await tryToApprove(tx, id, input, context);
      if (payout && isNew) payouts.push(payout);
      data.push({
        id,
        payout: payout && payoutObject(payout),
        error: error && { code: error.code, message: error.message },
      });
    }
    const response = { status: 200, body: JSON.stringify({ data }) };
    await storeResponse(tx, request, response);
    return { kind: 'approved', response, payouts };
  });
}

type ReleaseResult =
  | { readonly payout: Payout; readonly error: null; readonly isNew: boolean }
  | { readonly payout: null; readonly error: DomainError; readonly isNew: false };

async function tryToApprove(tx: Tx, payoutId: string, input: Release, context: Context): Promise<ReleaseResult> {
  try {
    const payout = await withSavepoint(tx, () => approve(tx, payoutId, input, context));
    return { payout, error: null, isNew: true };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const own = error.code === 'state_conflict' ? await findOwnRelease(tx, payoutId, input) : null;
    if (own) return { payout: own, error: null, isNew: false };
    if (REFUSALS.has(error.code)) {
      const subjectId = isId('pay', payoutId) ? payoutId : null;
      const reason = error.reason ?? error.message;
      await recordRefusal(tx, input.by, { action: `POST ${MANY}`, subjectId, reason, at: input.at });
    }
    return { payout: null, error, isNew: false };
  }
}

// A payout that this person released before: the request has its effect already.
async function findOwnRelease(tx: Tx, payoutId: string, { by: { person } }: Release): Promise<Payout | null> {
  const payout = isId('pay', payoutId) ? await findPayout(tx, person.merchantId, payoutId) : null;
  if (payout === null || approvalState(payout.state) !== 'approved') return null;
  return payout.approvals.some(({ userId }) => userId === person.userId) ? payout : null;
}

function keyed({ by, idempotencyKey: key, at }: Release, fingerprint: Buffer): KeyedRequest {
  return { merchantId: by.person.merchantId, key, fingerprint, at };
}

/** The merchant's policy. */
async function requireApprover(tx: Tx, person: Person, environment: Environment, at: Date): Promise<Policy> {
  const { merchantId, userId } = person;
  const roles = await findMemberRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('not an approver any more');
  const policy = await findPolicy(tx, merchantId);
  await requireMoneyMover(tx, { merchantId, userId, policy, environment, at });
  await requireTwoOwners(tx, merchantId, environment);
  return policy;
}

async function approve(tx: Tx, payoutId: string, input: Release, context: Context): Promise<Payout> {
  const { at } = input;
  const { person } = input.by;
  const { merchantId, userId } = person;
  const policy = await requireApprover(tx, person, context.environment, at);
  const payout = isId('pay', payoutId) ? await findPayoutLocked(tx, merchantId, payoutId) : null;
  if (payout === null) throw new DomainError('payout_not_found', 'There is no payout with this id.');
  // A repeat by a person whose approval is recorded already releases nothing while another approval is missing.
  const own = payout.approvals.find((approval) => approval.userId === userId);
  const isRepeat = payout.state === 'queued' && own !== undefined;
  if (isRepeat && (await countApprovals(tx, payout, context)) < payout.approvalsRequired) return payout;
  const since = new Date(at.getTime() - DAILY_LIMIT_WINDOW_MS);
  const approvedMinor = await sumApprovedSince(tx, merchantId, userId, since);
  const isCounted = own !== undefined && own.approvedAt > since;
  const releasedMinor = isCounted ? approvedMinor - payout.amountMinor : approvedMinor;
  checkRelease({ payout, person, policy, releasedMinor, at });
  const attestation = context.releases.attestApproval(payout, { userId, approvedAt: at });
  if (!isRepeat) await insertApproval(tx, { payoutId: payout.id, userId, merchantId, at, attestation });
  const approved: Payout = {
    ...payout,
    approvals: isRepeat ? payout.approvals : [...payout.approvals, { userId, approvedAt: at, attestation }],
    // A policy that became stricter applies to queued payouts; one that became looser does not.
    approvalsRequired: Math.max(payout.approvalsRequired, approvalsRequired(policy, payout.amountMinor)),
  };
  const isReleased = (await countApprovals(tx, approved, context)) >= approved.approvalsRequired;
  const after = isReleased ? await release(tx, approved, at, context) : await waitForAnother(tx, approved, at);
  await recordAct(tx, input.by, {
    action: isReleased ? 'payout.released' : 'payout.approved',
    subjectId: payout.id,
    before: { state: payout.state, approvals: payout.approvals.length },
    after: { state: after.state, approvals: after.approvals.length },
    at,
  });
  return after;
}

// An approval that nobody attested counts for nothing, and neither does that of a person who may approve no more.
async function countApprovals(tx: Tx, payout: Payout, { releases }: Context): Promise<number> {
  const attested = payout.approvals.filter((approval) => releases.isApprovalAttested(payout, approval));
  return countApprovers(
    tx,
    payout.merchantId,
    attested.map(({ userId }) => userId),
  );
}

async function release(tx: Tx, approved: Payout, at: Date, context: Context): Promise<Payout> {
  const { environment, clocks, releases } = context;
  const sendDeadlineAt = new Date(at.getTime() + clocks.payoutSendDeadlineMs);
  const releaseAttestation = releases.attestRelease(approved, { ...approved, sendDeadlineAt });
  const staleAfterMs = checkBeforeDeadlineMs(clocks.payoutSendDeadlineMs);
  const change = changePayout(approved, { kind: 'released', sendDeadlineAt, releaseAttestation }, at, {
    ...clocks,
    staleAfterMs,
  });
  if (change === null) throw new Error(`payout ${approved.id} could not be released from ${approved.state}`);
  const isRecorded = await recordPayoutChange(tx, change, environment);
  if (!isRecorded) throw new Error(`payout ${approved.id} changed while it was locked`);
  return change.after;
}

async function waitForAnother(tx: Tx, approved: Payout, at: Date): Promise<Payout> {
  await requireApprovals(tx, approved.id, approved.approvalsRequired, at);
  return { ...approved, updatedAt: at };
}

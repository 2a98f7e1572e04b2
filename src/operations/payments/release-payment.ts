// Releases payouts and refunds: records the approval of a person, and releases the payment when it has enough approvals.
import { recordAct } from '../../db/accounts/audit.ts';
import { recordRefusal } from '../../db/accounts/refusal.ts';
import { asRequested, withSavepoint, type Tx } from '../../db/platform/database.ts';
import {
  claimIdempotencyKey,
  storeResponse,
  type KeyedRequest,
  type StoredResponse,
} from '../../db/payments/idempotency-key.ts';
import { findAttestedFunds, type AttestedFunds } from '../../db/payments/attested-funds.ts';
import { countApprovers, insertApproval, requireApprovals, sumApprovedSince } from '../../db/payments/approval.ts';
import { findPayout, lockPayouts } from '../../db/payments/payout.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireNotRecovered } from '../../db/accounts/recovered.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import { REFUSALS } from '../../domain/accounts/audit.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import type { Clocks } from '../../domain/clocks.ts';
import { isId } from '../../domain/ids.ts';
import { requestFingerprint } from '../../security/request-fingerprint.ts';
import { holdsOneOf, permissionDenied, type ActedBy, type Person } from '../../domain/accounts/member.ts';
import { approvalState } from '../../domain/payments/approval.ts';
import { payoutObject, type Payout } from '../../domain/payments/payout.ts';
import {
  approvalsRequired,
  checkRelease,
  checkSecondFactor,
  DAILY_LIMIT_WINDOW_MS,
} from '../../domain/payments/release.ts';
import type { Reversal } from '../../domain/payments/reversal.ts';
import { checkBeforeDeadlineMs } from '../../domain/work.ts';
import {
  DECIDED_PAYOUT,
  DECIDED_REFUND,
  type DecidedKind,
  type DecidedPayment,
} from '../../db/payments/decided-payment.ts';
import type { PaymentContext } from './payment-context.ts';

type Release = {
  readonly by: ActedBy;
  readonly idempotencyKey: string;
  readonly at: Date;
};

export type ReleasePayout = Release & { readonly payoutId: string };
export type ReleasePayouts = Release & { readonly payoutIds: readonly string[] };
export type ReleaseReversal = Release & { readonly reversalId: string };

/** A release within its transaction. */
type Attempt<Input extends Release = Release> = Input & {
  /** Read once: a release moves no money between accounts, so several do not change it for each other. */
  readonly funds: () => Promise<AttestedFunds>;
};

function attempt<Input extends Release>(tx: Tx, input: Input): Attempt<Input> {
  let funds: Promise<AttestedFunds> | undefined;
  return { ...input, funds: () => (funds ??= findAttestedFunds(tx, input.by.person.merchantId)) };
}

type Subject<Payment extends DecidedPayment> = { readonly of: DecidedKind<Payment>; readonly id: string };
type Replayed = { readonly kind: 'replayed'; readonly response: StoredResponse };
export type ReleasedPayout =
  { readonly kind: 'approved'; readonly response: StoredResponse; readonly payout: Payout } | Replayed;
export type ReleasedReversal =
  { readonly kind: 'approved'; readonly response: StoredResponse; readonly reversal: Reversal } | Replayed;
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
  const path = `/v1/console/payouts/${input.payoutId}/release`;
  const released = await releaseOne(context, input, { of: DECIDED_PAYOUT, id: input.payoutId, path });
  return released.kind === 'replayed' ? released : { ...released, payout: released.payment };
}

/** The same for a refund, with `reversal_not_found`. It is not released once the operator returned its collection by itself. */
export async function releaseReversal(context: PaymentContext, input: ReleaseReversal): Promise<ReleasedReversal> {
  const path = `/v1/console/reversals/${input.reversalId}/release`;
  const released = await releaseOne(context, input, { of: DECIDED_REFUND, id: input.reversalId, path });
  return released.kind === 'replayed' ? released : { ...released, reversal: released.payment };
}

async function releaseOne<Payment extends DecidedPayment>(
  context: PaymentContext,
  input: Release,
  { of, id, path }: Subject<Payment> & { readonly path: string },
): Promise<{ readonly kind: 'approved'; readonly response: StoredResponse; readonly payment: Payment } | Replayed> {
  const request = keyed(input, requestFingerprint('POST', path, input.by.person.userId));
  return context.db.withTransaction(async (tx) => {
    const stored = await claimIdempotencyKey(tx, request);
    if (stored) return { kind: 'replayed', response: stored };
    const payment = await approve(tx, { of, id }, attempt(tx, input), context);
    const response = { status: 200, body: JSON.stringify(of.toObject(payment)) };
    await storeResponse(tx, request, response);
    return { kind: 'approved', response, payment };
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
    // Locked in the same order as by the release of one payment: the person, then the payouts.
    const policy = await requireApprover(tx, person, context.environment, input.at);
    // Refused for all payouts together, and not stored: after a step-up the same key can be used.
    checkSecondFactor(person, policy, input.at);
    await lockPayouts(tx, person.merchantId, ids);
    const payouts: Payout[] = [];
    const each = attempt(tx, input);
    const data = [];
    for (const id of ids) {
      const { payout, error, isNew } = await tryToApprove(tx, id, each, context);
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

async function tryToApprove(tx: Tx, payoutId: string, input: Attempt, context: PaymentContext): Promise<ReleaseResult> {
  try {
    const payout = await withSavepoint(tx, () => approve(tx, { of: DECIDED_PAYOUT, id: payoutId }, input, context));
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
  const roles = await findRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('no longer an approver');
  await requireNotRecovered(tx, person);
  const policy = await findPolicy(tx, merchantId);
  await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at });
  return policy;
}

function sendChecks(clocks: Clocks): Clocks {
  return { ...clocks, staleAfterMs: checkBeforeDeadlineMs(clocks.payoutSendDeadlineMs) };
}

async function approve<Payment extends DecidedPayment>(
  tx: Tx,
  { of, id }: Subject<Payment>,
  input: Attempt,
  context: PaymentContext,
): Promise<Payment> {
  const { at } = input;
  const { person } = input.by;
  const { merchantId, userId } = person;
  const policy = await requireApprover(tx, person, context.environment, at);
  const payment = await of.findLocked(tx, merchantId, id);
  if (payment === null) throw of.notFound();
  // A repeat by a person whose approval is recorded already releases nothing while another approval is missing.
  const own = payment.approvals.find((approval) => approval.userId === userId);
  const isRepeat = payment.state === 'queued' && own !== undefined;
  const count = { of, policy, at };
  if (isRepeat && (await countApprovals(tx, payment, count, context)) < payment.approvalsRequired) return payment;
  const since = new Date(at.getTime() - DAILY_LIMIT_WINDOW_MS);
  const approvedMinor = await sumApprovedSince(tx, merchantId, userId, since);
  const isCounted = own !== undefined && own.approvedAt > since;
  const releasedMinor = isCounted ? approvedMinor - payment.amountMinor : approvedMinor;
  checkRelease({ payment, person, policy, releasedMinor, at });
  of.checkMayRelease(payment);
  checkRequest(payment, of, context);
  await requireAttestedMoney(tx, payment, of, await input.funds());
  const attestation = context.releases.attestApproval(of.toAttested(payment), { userId, approvedAt: at });
  if (!isRepeat) await insertApproval(tx, { kind: of.noun, id: payment.id, userId, merchantId, at, attestation });
  const approvals = isRepeat ? payment.approvals : [...payment.approvals, { userId, approvedAt: at, attestation }];
  const approved = withApprovalsRequired({ ...payment, approvals }, policy, of, context);
  const isReleased = (await countApprovals(tx, approved, count, context)) >= approved.approvalsRequired;
  const after = isReleased
    ? await release(asRequested(tx, input.by.requestId), approved, { of, at }, context)
    : await waitForAnother(tx, approved, of, at);
  await recordAct(tx, input.by, {
    action: `${of.noun}.${isReleased ? 'released' : 'approved'}`,
    subjectId: payment.id,
    before: { state: payment.state, approvals: payment.approvals.length },
    after: { state: after.state, approvals: after.approvals.length },
    at,
  });
  return after;
}

// What is queued may have been changed by hand since somebody requested it. The maker knows what they requested, and the
// approver sees only the row.
function checkRequest<Payment extends DecidedPayment>(
  payment: Payment,
  of: DecidedKind<Payment>,
  context: PaymentContext,
): void {
  if (context.releases.isRequestAttested(of.toAttested(payment), payment, payment.requestAttestation)) return;
  context.db.attestor.report({ table: `${of.noun}s`, key: payment.id });
  throw new DomainError(
    'state_conflict',
    `This ${of.noun} does not match its original request. Reject it, and have it requested again.`,
  );
}

// Held money left the available balance when the payout was made, so that balance without what nobody attested covers everything that
// was spent and held so far, or somebody spends money that no operator reported.
async function requireAttestedMoney<Payment extends DecidedPayment>(
  tx: Tx,
  payment: Payment,
  of: DecidedKind<Payment>,
  { unattestedMinor, attestedMinor, checkedTo }: AttestedFunds,
): Promise<void> {
  const isCovered = unattestedMinor === 0n || attestedMinor >= 0n;
  if (isCovered && (await of.isMoneyAttested(tx, payment, checkedTo))) return;
  throw new DomainError(
    'state_conflict',
    'This payment would spend money that the service did not record as received. Only the staff of the service can resolve that.',
  );
}

// A policy that became stricter applies to queued payments; one that became looser does not.
function withApprovalsRequired<Payment extends DecidedPayment>(
  payment: Payment,
  policy: Policy,
  of: DecidedKind<Payment>,
  { releases }: PaymentContext,
): Payment {
  const needed = approvalsRequired(policy, payment.amountMinor);
  if (needed <= payment.approvalsRequired) return payment;
  const raised: Payment = { ...payment, approvalsRequired: needed };
  return { ...raised, requestAttestation: releases.attestRequest(of.toAttested(raised), raised) };
}

// An approval that nobody attested counts for nothing, and neither does that of a person who may approve no more, or not yet
// again after they lost the role. What a recovery withdrew is not among them.
async function countApprovals<Payment extends DecidedPayment>(
  tx: Tx,
  payment: Payment,
  { of, policy, at }: { readonly of: DecidedKind<Payment>; readonly policy: Policy; readonly at: Date },
  { releases, environment }: PaymentContext,
): Promise<number> {
  const subject = of.toAttested(payment);
  const attested = payment.approvals.filter((approval) => releases.isApprovalAttested(subject, approval));
  const approvers = attested.map(({ userId }) => userId);
  return countApprovers(tx, approvers, { merchantId: payment.merchantId, policy, environment, at });
}

async function release<Payment extends DecidedPayment>(
  tx: Tx,
  approved: Payment,
  { of, at }: { readonly of: DecidedKind<Payment>; readonly at: Date },
  context: PaymentContext,
): Promise<Payment> {
  const sendDeadlineAt = new Date(at.getTime() + context.clocks.payoutSendDeadlineMs);
  const releaseAttestation = context.releases.attestRelease(of.toAttested(approved), { ...approved, sendDeadlineAt });
  const decision = { kind: 'released', sendDeadlineAt, releaseAttestation } as const;
  const { environment } = context;
  const after = await of.record(tx, approved, decision, { environment, clocks: sendChecks(context.clocks), at });
  if (after === null) throw new Error(`${approved.id} could not be released from ${approved.state}`);
  return after;
}

async function waitForAnother<Payment extends DecidedPayment>(
  tx: Tx,
  approved: Payment,
  { noun: kind }: DecidedKind<Payment>,
  at: Date,
): Promise<Payment> {
  const { id, approvalsRequired: count, requestAttestation } = approved;
  await requireApprovals(tx, { id, count, requestAttestation, at });
  return { ...approved, updatedAt: at };
}

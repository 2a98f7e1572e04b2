// Records a person's approval of a payout or refund, and releases the payment once it has enough approvals.
import { recordAct } from '../../db/accounts/audit.ts';
import { recordRefusal } from '../../db/accounts/refusal.ts';
import { withRequestId, withSavepoint, type Tx } from '../../db/platform/database.ts';
import { respondOnce } from '../../db/payments/idempotency-key.ts';
import { isPaymentAttested } from '../../db/payments/attested-credit.ts';
import { findAttestedFunds, type AttestedFunds } from '../../db/payments/attested-funds.ts';
import { countApprovers, insertApproval, requireApprovals, sumApprovedSince } from '../../db/payments/approval.ts';
import { lockMoneyOut, lockPayments, recordDecision } from '../../db/payments/payment.ts';
import { findPayout } from '../../db/payments/payout.ts';
import { findRolesLocked } from '../../db/accounts/member.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { requireNotRecovered } from '../../db/accounts/recovery-guard.ts';
import { requireMayMoveMoney } from '../../db/accounts/waiting-time.ts';
import { REFUSALS } from '../../domain/accounts/audit.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import { DomainError, stateConflict } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { isId } from '../../domain/ids.ts';
import { keyedRequest } from '../../security/request-fingerprint.ts';
import { holdsOneOf, permissionDenied, type ByPerson, type Person } from '../../domain/accounts/member.ts';
import { accepted, type StoredOutcome } from '../../domain/payments/stored-outcome.ts';
import { approvalState } from '../../domain/payments/approval.ts';
import type { MoneyOut, MoneyOutKind, Payment } from '../../domain/payments/payment.ts';
import { payoutObject, type Payout } from '../../domain/payments/payout.ts';
import {
  approvalsRequired,
  checkRelease,
  checkSecondFactor,
  DAILY_LIMIT_WINDOW_MS,
} from '../../domain/payments/release.ts';
import type { PaymentContext } from './payment-context.ts';

type Release = ByPerson & { readonly idempotencyKey: string };

export type ReleasePayment<Kind extends MoneyOutKind = MoneyOutKind> = Release & {
  readonly kind: Kind;
  readonly id: string;
};
export type ReleasePayouts = Release & { readonly payoutIds: readonly string[] };

/** A release within its transaction. */
type Attempt = Release & {
  /** The funds, read once for all releases of the request: a release moves no money between accounts. */
  readonly funds: () => Promise<AttestedFunds>;
};

function attempt(tx: Tx, input: Release): Attempt {
  let funds: Promise<AttestedFunds> | undefined;
  return { ...input, funds: () => (funds ??= findAttestedFunds(tx, input.by.person.merchantId)) };
}

/**
 * One transaction records the approval, the release if the payment now has all the approvals it needs, the event of a payout, the
 * audit entry and the stored response. The operation checks the two-person rule on locked rows (the payment, the person's roles and
 * releases), and the database checks the approval again. A refund is not released if the operator returned its collection without a
 * refund. Throws `payout_not_found` or `reversal_not_found`, `approval_self`, `state_conflict`, `permission_denied`, and the errors of
 * `claimIdempotencyKey`; nothing is recorded then.
 */
export async function releasePayment<Kind extends MoneyOutKind>(
  context: PaymentContext,
  { kind, id, ...input }: ReleasePayment<Kind>,
): Promise<StoredOutcome<readonly [Payment<Kind>]>> {
  const path = `/v1/console/${kind}s/${id}/release`;
  const { merchantId, userId } = input.by.person;
  const request = keyedRequest(path, { ...input, merchantId }, userId);
  return respondOnce(context.db, request, async (tx) => {
    const payment = await approve(tx, { kind, id }, attempt(tx, input), context);
    return accepted(payment as Payment<Kind>, 200);
  });
}

const MANY = '/v1/console/payouts/release';

/**
 * Releases several payouts in one transaction, like `releasePayment`. Each payout is approved or refused by itself, in the order of
 * the request, and the stored response has the result of each. A failure before the commit leaves nothing recorded and the key free.
 * A concurrent call with the same key gets `idempotency_key_in_flight`. A payout that this person released before counts as released.
 * The audit log records refusals of the person. Throws `permission_denied` for a person who may release nothing now, `state_conflict`
 * while the merchant needs a second owner, and the errors of `claimIdempotencyKey`.
 */
export async function releasePayouts(
  context: PaymentContext,
  input: ReleasePayouts,
): Promise<StoredOutcome<readonly Payout[]>> {
  const { person } = input.by;
  const ids = input.payoutIds;
  const { merchantId, userId } = person;
  const request = keyedRequest(MANY, { ...input, merchantId }, { userId, ids });
  return respondOnce(context.db, request, async (tx) => {
    // Locks in the same order as the release of one payment: the person, then the payouts.
    const policy = await requireApprover(tx, person, context.environment, input.at);
    // Refuses all payouts together, without a stored response: after a step-up the same key can be used.
    checkSecondFactor(person, policy, input.at);
    await lockPayments(tx, merchantId, ids);
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
    return { kind: 'accepted', response, payments: payouts };
  });
}

type ReleaseResult =
  | { readonly payout: Payout; readonly error: null; readonly isNew: boolean }
  | { readonly payout: null; readonly error: DomainError; readonly isNew: false };

async function tryToApprove(tx: Tx, payoutId: string, input: Attempt, context: PaymentContext): Promise<ReleaseResult> {
  try {
    const payout = await withSavepoint(tx, () => approve(tx, { kind: 'payout', id: payoutId }, input, context));
    return { payout: payout as Payout, error: null, isNew: true };
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

// A payout that this person released before: the effect of the request already exists.
async function findOwnRelease(tx: Tx, payoutId: string, { by: { person } }: Release): Promise<Payout | null> {
  const payout = isId('pay', payoutId) ? await findPayout(tx, person.merchantId, payoutId) : null;
  if (payout === null || approvalState(payout.state) !== 'approved') return null;
  return payout.approvals.some(({ userId }) => userId === person.userId) ? payout : null;
}

async function requireApprover(tx: Tx, person: Person, environment: Environment, at: Date): Promise<Policy> {
  const { merchantId, userId } = person;
  const roles = await findRolesLocked(tx, merchantId, userId);
  if (!holdsOneOf(roles, ['approver'])) throw permissionDenied('no longer an approver');
  await requireNotRecovered(tx, person);
  const policy = await findPolicy(tx, merchantId);
  await requireMayMoveMoney(tx, { merchantId, userId, policy, environment, at });
  return policy;
}

async function approve(
  tx: Tx,
  { kind, id }: { readonly kind: MoneyOutKind; readonly id: string },
  input: Attempt,
  context: PaymentContext,
): Promise<MoneyOut> {
  const { at } = input;
  const { person } = input.by;
  const { merchantId, userId } = person;
  const policy = await requireApprover(tx, person, context.environment, at);
  const payment = await lockMoneyOut(tx, kind, merchantId, id);
  // A repeat by a person whose approval is already recorded releases nothing while another approval is missing.
  const own = payment.approvals.find((approval) => approval.userId === userId);
  const isRepeat = payment.state === 'queued' && own !== undefined;
  const count = { policy, at };
  if (isRepeat && (await countApprovals(tx, payment, count, context)) < payment.approvalsRequired) return payment;
  const since = new Date(at.getTime() - DAILY_LIMIT_WINDOW_MS);
  const approvedMinor = await sumApprovedSince(tx, merchantId, userId, since);
  const isCounted = own !== undefined && own.approvedAt > since;
  const releasedMinor = isCounted ? approvedMinor - payment.amountMinor : approvedMinor;
  checkRelease({ payment, person, policy, releasedMinor, at });
  checkRequest(payment, context);
  await requireAttestedMoney(tx, payment, await input.funds());
  const attestation = context.releases.attestApproval(payment, { userId, approvedAt: at });
  if (!isRepeat) await insertApproval(tx, { kind, id: payment.id, userId, merchantId, at, attestation });
  const approvals = isRepeat ? payment.approvals : [...payment.approvals, { userId, approvedAt: at, attestation }];
  const approved = withApprovalsRequired({ ...payment, approvals }, policy, context);
  const isReleased = (await countApprovals(tx, approved, count, context)) >= approved.approvalsRequired;
  const after = isReleased
    ? await release(withRequestId(tx, input.by.requestId), approved, at, context)
    : await waitForAnother(tx, approved, at);
  await recordAct(tx, input.by, {
    action: `${kind}.${isReleased ? 'released' : 'approved'}`,
    subjectId: payment.id,
    before: { state: payment.state, approvals: payment.approvals.length },
    after: { state: after.state, approvals: after.approvals.length },
    at,
  });
  return after;
}

// Somebody may have changed a queued payment in the database since its request. The maker knows the request, but the approver sees
// only the row.
function checkRequest(payment: MoneyOut, { releases, db }: PaymentContext): void {
  if (releases.isRequestAttested(payment)) return;
  db.attestor.report({ table: `${payment.kind}s`, key: payment.id });
  throw stateConflict(
    `This ${payment.kind} does not match its original request. Reject it, and have it requested again.`,
  );
}

// Held money left the available balance when the payout was made. So if there is unattested money, the available balance less that money
// must not be below zero: otherwise somebody spends money that no operator reported. A refund's money came by its collection, whose
// credit must be attested.
async function requireAttestedMoney(
  tx: Tx,
  payment: MoneyOut,
  { unattestedMinor, attestedMinor, checkedTo }: AttestedFunds,
): Promise<void> {
  const isCovered = unattestedMinor === 0n || attestedMinor >= 0n;
  const isPaid = payment.kind === 'payout' || (await isPaymentAttested(tx, payment.collectionId, checkedTo));
  if (isCovered && isPaid) return;
  throw stateConflict(
    'This payment would spend money that the service did not record as received. Only the staff of the service can resolve that.',
  );
}

// A policy that became stricter applies to queued payments; one that became looser does not.
function withApprovalsRequired(payment: MoneyOut, policy: Policy, { releases }: PaymentContext): MoneyOut {
  const needed = approvalsRequired(policy, payment.amountMinor);
  if (needed <= payment.approvalsRequired) return payment;
  const raised = { ...payment, approvalsRequired: needed };
  return { ...raised, requestAttestation: releases.attestRequest(raised) };
}

// An unattested approval does not count. Neither does an approval of a person who may no longer approve, or who lost the role and may not
// approve again yet. Approvals that a recovery withdrew are not among the payment's approvals.
async function countApprovals(
  tx: Tx,
  payment: MoneyOut,
  { policy, at }: { readonly policy: Policy; readonly at: Date },
  { releases, environment }: PaymentContext,
): Promise<number> {
  const attested = payment.approvals.filter((approval) => releases.isApprovalAttested(payment, approval));
  const approvers = attested.map(({ userId }) => userId);
  return countApprovers(tx, approvers, { merchantId: payment.merchantId, policy, environment, at });
}

async function release(tx: Tx, approved: MoneyOut, at: Date, context: PaymentContext): Promise<MoneyOut> {
  const sendDeadlineAt = new Date(at.getTime() + context.clocks.payoutSendDeadlineMs);
  const releaseAttestation = context.releases.attestRelease({ ...approved, sendDeadlineAt });
  const decision = { kind: 'released', sendDeadlineAt, releaseAttestation } as const;
  const { environment, clocks } = context;
  const after = await recordDecision(tx, approved, decision, { environment, clocks, at });
  if (after === null) throw new Error(`${approved.id} could not be released from ${approved.state}`);
  return after;
}

async function waitForAnother(tx: Tx, approved: MoneyOut, at: Date): Promise<MoneyOut> {
  const { id, approvalsRequired: count, requestAttestation } = approved;
  await requireApprovals(tx, { id, count, requestAttestation, at });
  return { ...approved, updatedAt: at };
}

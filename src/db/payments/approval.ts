// Rows of approvals, and the reads about approvers that the two-person rule needs.
import type { MerchantId, UserId } from '../../domain/ids.ts';
import type { Approval } from '../../domain/payments/approval.ts';
import type { MoneyOut, MoneyOutKind } from '../../domain/payments/payment.ts';
import { holdsOneOf } from '../../domain/accounts/member.ts';
import { listMembershipsAmong } from '../accounts/member.ts';
import { membersPastWaitingTime, type MoneyMove } from '../accounts/waiting-time.ts';
import { insertion } from '../platform/columns.ts';
import { readCount, statement, type Queryable, type Tx } from '../platform/database.ts';

const insert = insertion('approval_insert', 'approvals', 'payment_id, user_id, merchant_id, approved_at, attestation');

export type NewApproval = Pick<MoneyOut, 'kind' | 'id' | 'merchantId'> & {
  readonly userId: UserId;
  readonly at: Date;
  readonly attestation: string;
};

export async function insertApproval(tx: Tx, approval: NewApproval): Promise<void> {
  await insert(tx, { ...approval, paymentId: approval.id, approvedAt: approval.at });
}

/** A column for a SELECT from `payments`: the approvals of the row that are not withdrawn. */
export const APPROVALS_COLUMN = `(SELECT json_agg(json_build_object('userId', a.user_id, 'attestation', a.attestation,
                                      'approvedAtMs', round(extract(epoch FROM a.approved_at) * 1000))
                    ORDER BY a.approved_at, a.user_id)
    FROM approvals a WHERE a.payment_id = payments.id AND a.withdrawn_at IS NULL) AS approvals`;

/** The value of `APPROVALS_COLUMN`. */
export type ApprovalsInRow = readonly (Omit<Approval, 'approvedAt'> & { readonly approvedAtMs: number })[] | null;

export function toApprovals(inRow: ApprovalsInRow): Approval[] {
  return (inRow ?? []).map(({ approvedAtMs: ms, ...approval }) => ({ ...approval, approvedAt: new Date(ms) }));
}

const LOCK_UNRELEASED = statement('approval_lock_unreleased_of')`
  SELECT 1 FROM payments p WHERE p.merchant_id = $1 AND p.kind = $3 AND p.state = 'queued' AND EXISTS (
    SELECT 1 FROM approvals a WHERE a.payment_id = p.id AND a.user_id = $2 AND a.withdrawn_at IS NULL)
  ORDER BY p.id FOR NO KEY UPDATE OF p`;
const WITHDRAW = statement('approval_withdraw_of')`
  UPDATE approvals a SET withdrawn_at = $4 FROM payments p
  WHERE p.id = a.payment_id AND p.merchant_id = $1 AND p.kind = $3 AND p.state = 'queued' AND a.user_id = $2
    AND a.withdrawn_at IS NULL
  RETURNING p.id`;

/**
 * Withdraws the person's approvals of payments that are not yet released, and returns the ids of these payments. Waits for a release
 * in progress, whose payment keeps its approvals. The caller locks the person's membership first.
 */
export async function withdrawApprovalsBy(
  tx: Tx,
  kind: MoneyOutKind,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  at: Date,
): Promise<string[]> {
  await tx.run(LOCK_UNRELEASED, [merchantId, userId, kind]);
  return (await tx.run<{ id: string }>(WITHDRAW, [merchantId, userId, kind, at])).map(({ id }) => id);
}

const REQUIRE = statement('approval_require')`
  WITH moved AS (
    UPDATE payments SET approvals_required = $2, request_attestation = $4, updated_at = $3
    WHERE id = $1 AND state = 'queued' RETURNING id)
  UPDATE work w SET is_started = false, due_at = $3 FROM moved WHERE w.id = moved.id AND w.task = 'workflow'`;

export type RequiredApprovals = Pick<NewApproval, 'id' | 'at'> & {
  readonly count: number;
  /** The attestation of the request with this number of approvals. */
  readonly requestAttestation: string | null;
};

/** Records how many approvals a payment needs that waits for another approval, and makes its work due, which signals its workflow. */
export async function requireApprovals(tx: Tx, required: RequiredApprovals): Promise<void> {
  const { id, count, at, requestAttestation } = required;
  await tx.run(REQUIRE, [id, count, at, requestAttestation]);
}

/** How many of these people may approve now. A person who was removed or is in their waiting time does not count. */
export async function countApprovers(
  tx: Tx,
  userIds: readonly UserId[],
  move: Omit<MoneyMove, 'userId'>,
): Promise<number> {
  const members = await listMembershipsAmong(tx, move.merchantId, userIds);
  const approvers = members.filter(({ roles }) => holdsOneOf(roles, ['approver']));
  return (await membersPastWaitingTime(tx, approvers, move)).length;
}

const SUM_SINCE = statement('approval_sum_since')`
  SELECT coalesce(sum(p.amount_minor), 0)::bigint AS amount_minor FROM approvals a JOIN payments p ON p.id = a.payment_id
  WHERE a.merchant_id = $1 AND a.user_id = $2 AND a.approved_at > $3 AND a.withdrawn_at IS NULL`;

/** The sum of the payouts and refunds that a person approved for the merchant after `since`, sent or not, less withdrawn approvals. */
export async function sumApprovedSince(
  db: Queryable,
  merchantId: MerchantId,
  userId: UserId,
  since: Date,
): Promise<bigint> {
  const [row] = await db.run<{ amountMinor: bigint }>(SUM_SINCE, [merchantId, userId, since]);
  return row?.amountMinor ?? 0n;
}

/** A condition: a queued payment waits for this person, who neither made nor approved it, and has not expired at `at`. */
export function waitsFor(payment: string, userId: string, at: string): string {
  return `${payment}.created_by <> ${userId} AND ${payment}.expires_at > ${at} AND NOT EXISTS (
      SELECT FROM approvals a WHERE a.payment_id = ${payment}.id AND a.user_id = ${userId} AND a.withdrawn_at IS NULL)`;
}

const COUNT_WAITING_FOR = statement('approval_count_waiting_for')`
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM payments p
    WHERE p.merchant_id = $1 AND p.kind = $2 AND p.state = 'queued' AND ${waitsFor('p', '$3', '$4')} LIMIT $5) AS waiting`;

const COUNT_QUEUED = statement('approval_count_queued')`
  SELECT count(*)::int AS count FROM (
    SELECT 1 FROM payments WHERE merchant_id = $1 AND kind = $2 AND state = 'queued' AND expires_at > $3 LIMIT $4) AS queued`;

/** How many payments of this kind wait for any approval, counted up to `limit`. */
export async function countQueued(
  db: Queryable,
  kind: MoneyOutKind,
  merchantId: MerchantId,
  { at, limit }: { readonly at: Date; readonly limit: number },
): Promise<number> {
  return readCount(db, COUNT_QUEUED, [merchantId, kind, at, limit]);
}

/** How many queued payments of this kind wait for an approver who neither made nor approved them, counted up to `limit`. */
export async function countWaitingFor(
  db: Queryable,
  kind: MoneyOutKind,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  { at, limit }: { readonly at: Date; readonly limit: number },
): Promise<number> {
  return readCount(db, COUNT_WAITING_FOR, [merchantId, kind, userId, at, limit]);
}

// Rows of approvals, and what the two-person rule needs to know of the people who approve.
import type { MerchantId, PayoutId, UserId } from '../../domain/ids.ts';
import type { Role } from '../../domain/accounts/member.ts';
import { statement, type Queryable, type Tx } from '../database.ts';

const INSERT = statement(
  'payout_approval_insert',
  'INSERT INTO payout_approvals (payout_id, user_id, merchant_id, approved_at, attestation) VALUES ($1, $2, $3, $4, $5)',
);

export type NewApproval = {
  readonly payoutId: PayoutId;
  readonly userId: UserId;
  readonly merchantId: MerchantId;
  readonly at: Date;
  readonly attestation: string;
};

export async function insertApproval(tx: Tx, approval: NewApproval): Promise<void> {
  await tx.run(INSERT, [approval.payoutId, approval.userId, approval.merchantId, approval.at, approval.attestation]);
}

const COUNT_APPROVERS = statement(
  'member_count_approvers',
  `SELECT count(*)::int AS count FROM members
   WHERE merchant_id = $1 AND user_id = ANY($2) AND removed_at IS NULL AND roles && ARRAY['owner', 'approver']`,
);

/** How many of these people may approve now: a person who was removed does not count. */
export async function countApprovers(tx: Tx, merchantId: MerchantId, userIds: readonly UserId[]): Promise<number> {
  const [row] = await tx.run<{ count: number }>(COUNT_APPROVERS, [merchantId, userIds]);
  return row?.count ?? 0;
}

const SUM_SINCE = statement(
  'payout_approval_sum_since',
  `SELECT coalesce(sum(p.amount_minor), 0)::bigint AS amount_minor
   FROM payout_approvals a JOIN payouts p ON p.id = a.payout_id
   WHERE a.merchant_id = $1 AND a.user_id = $2 AND a.approved_at > $3`,
);

/** The sum of the payouts that a person approved for the merchant since then, sent or not. */
export async function sumApprovedSince(
  db: Queryable,
  merchantId: MerchantId,
  userId: UserId,
  since: Date,
): Promise<bigint> {
  const [row] = await db.run<{ amountMinor: bigint }>(SUM_SINCE, [merchantId, userId, since]);
  return row?.amountMinor ?? 0n;
}

const LOCK_MEMBER = statement(
  'member_lock_roles',
  `SELECT roles FROM members WHERE merchant_id = $1 AND user_id = $2 AND removed_at IS NULL FOR NO KEY UPDATE`,
);

/**
 * The roles that a person has now, none if they are not a member. Until the transaction ends nobody changes them, and
 * other decisions of this person wait.
 */
export async function findMemberRolesLocked(tx: Tx, merchantId: MerchantId, userId: UserId): Promise<readonly Role[]> {
  const [row] = await tx.run<{ roles: Role[] }>(LOCK_MEMBER, [merchantId, userId]);
  return row?.roles ?? [];
}

const COUNT_WAITING_FOR = statement(
  'payout_approval_count_waiting_for',
  `SELECT count(*)::int AS count FROM (
     SELECT 1 FROM payouts p
     WHERE p.merchant_id = $1 AND p.state = 'queued' AND p.created_by <> $2 AND p.expires_at > $3
       AND NOT EXISTS (SELECT 1 FROM payout_approvals a WHERE a.payout_id = p.id AND a.user_id = $2)
     LIMIT $4) AS waiting`,
);

/** How many queued payouts wait for an approver who neither made nor approved them, counted up to `limit`. */
export async function countPayoutsWaitingFor(
  db: Queryable,
  { merchantId, userId }: { readonly merchantId: MerchantId; readonly userId: UserId },
  at: Date,
  limit: number,
): Promise<number> {
  const [row] = await db.run<{ count: number }>(COUNT_WAITING_FOR, [merchantId, userId, at, limit]);
  return row?.count ?? 0;
}

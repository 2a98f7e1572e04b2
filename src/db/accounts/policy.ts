// Rows of policies: one for each merchant that has changed its policy.
import type { MerchantId } from '../../domain/ids.ts';
import { DEFAULT_POLICY, type Policy } from '../../domain/accounts/policy.ts';
import { findOne, statement, type Queryable, type Tx } from '../database.ts';

const FIND = statement(
  'policy_find',
  `SELECT second_factor_required, two_approvers_above_minor, approver_daily_limit_minor,
          payout_expires_after_ms::float8, approver_wait_ms::float8
   FROM policies WHERE merchant_id = $1`,
);

/** The merchant's policy, or the defaults if it has never changed it. */
export async function findPolicy(db: Queryable, merchantId: MerchantId): Promise<Policy> {
  return (await findOne<Policy>(db, FIND, [merchantId])) ?? DEFAULT_POLICY;
}

const PUT = statement(
  'policy_put',
  `INSERT INTO policies (merchant_id, second_factor_required, two_approvers_above_minor, approver_daily_limit_minor,
                         payout_expires_after_ms, approver_wait_ms, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (merchant_id) DO UPDATE SET
     second_factor_required = excluded.second_factor_required,
     two_approvers_above_minor = excluded.two_approvers_above_minor,
     approver_daily_limit_minor = excluded.approver_daily_limit_minor,
     payout_expires_after_ms = excluded.payout_expires_after_ms,
     approver_wait_ms = excluded.approver_wait_ms,
     updated_at = excluded.updated_at`,
);

export async function putPolicy(tx: Tx, merchantId: MerchantId, policy: Policy, at: Date): Promise<void> {
  await tx.run(PUT, [
    merchantId,
    policy.secondFactorRequired,
    policy.twoApproversAboveMinor,
    policy.approverDailyLimitMinor,
    policy.payoutExpiresAfterMs,
    policy.approverWaitMs,
    at,
  ]);
}

// Rows of policies: one for each merchant that has changed its policy.
import type { MerchantId } from '../../domain/ids.ts';
import { DEFAULT_POLICY, type Policy } from '../../domain/accounts/policy.ts';
import { attestedColumns, changeAttestedRow, requireAttested, type AttestedRow } from './attested-rows.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const FIND = statement('policy_find')`SELECT ${attestedColumns('policies')} FROM policies t WHERE t.merchant_id = $1`;

/** The merchant's policy, or the defaults. Throws `permission_denied` when no process of ours wrote it. */
export async function findPolicy(db: Queryable, merchantId: MerchantId): Promise<Policy> {
  const row = await findOne<Policy & AttestedRow<'policies'>>(db, FIND, [merchantId]);
  if (row === null) return DEFAULT_POLICY;
  requireAttested(db, 'policies', row);
  const { secondFactorRequired, twoApproversAboveMinor, approverDailyLimitMinor } = row;
  const { payoutExpiresAfterMs, approverWaitMs, keyHeldLimitMinor } = row;
  return {
    ...{ secondFactorRequired, twoApproversAboveMinor, approverDailyLimitMinor },
    ...{ payoutExpiresAfterMs, approverWaitMs, keyHeldLimitMinor },
  };
}

const PUT = statement('policy_put')`
  INSERT INTO policies (merchant_id, second_factor_required, two_approvers_above_minor, approver_daily_limit_minor,
                        payout_expires_after_ms, approver_wait_ms, updated_at, key_held_limit_minor)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (merchant_id) DO UPDATE SET
    second_factor_required = excluded.second_factor_required,
    two_approvers_above_minor = excluded.two_approvers_above_minor,
    approver_daily_limit_minor = excluded.approver_daily_limit_minor,
    payout_expires_after_ms = excluded.payout_expires_after_ms,
    approver_wait_ms = excluded.approver_wait_ms,
    updated_at = excluded.updated_at,
    key_held_limit_minor = excluded.key_held_limit_minor`;

export async function putPolicy(tx: Tx, merchantId: MerchantId, policy: Policy, at: Date): Promise<void> {
  const values = [
    merchantId,
    policy.secondFactorRequired,
    policy.twoApproversAboveMinor,
    policy.approverDailyLimitMinor,
    policy.payoutExpiresAfterMs,
    policy.approverWaitMs,
    at,
    policy.keyHeldLimitMinor,
  ];
  await changeAttestedRow(tx, 'policies', [merchantId], () => tx.run(PUT, values));
}

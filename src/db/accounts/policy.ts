// Rows of policies: one for each merchant that has changed its policy.
import type { MerchantId } from '../../domain/ids.ts';
import { DEFAULT_POLICY, type Policy } from '../../domain/accounts/policy.ts';
import { attestedTable, type AttestedRow } from './attested-rows.ts';
import { insertion } from '../platform/columns.ts';
import { findOne, statement, type Queryable, type Tx } from '../platform/database.ts';

const attestedPolicies = attestedTable('policies');

const FIND = statement('policy_find')`SELECT ${attestedPolicies.columns} FROM policies t WHERE t.merchant_id = $1`;

/** The merchant's policy, or the defaults. Throws `permission_denied` if it is unattested. */
export async function findPolicy(db: Queryable, merchantId: MerchantId): Promise<Policy> {
  const row = await findOne<Policy & AttestedRow<'policies'>>(db, FIND, [merchantId]);
  if (row === null) return DEFAULT_POLICY;
  attestedPolicies.require(db, [row]);
  const { secondFactorRequired, twoApproversAboveMinor, approverDailyLimitMinor } = row;
  const { payoutExpiresAfterMs, approverWaitMs, keyHeldLimitMinor } = row;
  return {
    ...{ secondFactorRequired, twoApproversAboveMinor, approverDailyLimitMinor },
    ...{ payoutExpiresAfterMs, approverWaitMs, keyHeldLimitMinor },
  };
}

const SETTINGS = `second_factor_required, two_approvers_above_minor, approver_daily_limit_minor, payout_expires_after_ms,
  approver_wait_ms, key_held_limit_minor, updated_at`;
const put = insertion(
  'policy_put',
  'policies',
  `merchant_id, ${SETTINGS}`,
  `ON CONFLICT (merchant_id) DO UPDATE SET (${SETTINGS}) = (${SETTINGS.replace(/\w+/g, 'excluded.$&')})`,
);

export async function putPolicy(tx: Tx, merchantId: MerchantId, policy: Policy, at: Date): Promise<void> {
  await attestedPolicies.change(tx, [merchantId], () => put(tx, { ...policy, merchantId, updatedAt: at }));
}

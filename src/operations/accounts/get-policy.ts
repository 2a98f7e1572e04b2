// Reads the policy of a merchant and the proposals to change it.
import type { Database } from '../../db/platform/database.ts';
import { findPolicy } from '../../db/accounts/policy.ts';
import { listOpenProposals } from '../../db/accounts/proposal.ts';
import type { MerchantId } from '../../domain/ids.ts';
import type { Policy } from '../../domain/accounts/policy.ts';
import type { PolicyChange } from '../../domain/accounts/proposal.ts';

/** A merchant that never changed its policy has the defaults. `pending` leaves out the proposals that have expired. */
export async function getPolicy(
  db: Database,
  merchantId: MerchantId,
  at: Date,
): Promise<{ readonly policy: Policy; readonly pending: readonly PolicyChange[] }> {
  return db.withTransaction(async (tx) => ({
    policy: await findPolicy(tx, merchantId),
    pending: await listOpenProposals(tx, 'policy_change', merchantId, at),
  }));
}

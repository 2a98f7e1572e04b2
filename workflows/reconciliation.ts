// The sweep: requeues stale work, removes expired records, checks young payments against the ledger.
import { proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities, RequeuedWork } from '../activities/reconciliation.ts';
import { failOnFaults } from './ledger-check.ts';
import { HOUSEKEEPING } from './policies.ts';

const { requeueStaleWork, checkRecentPayments, purgeExpiredRecords } =
  proxyActivities<ReconciliationActivities>(HOUSEKEEPING);

/**
 * One sweep. It repairs what stands still, and fails, red in the Temporal UI, when the ledger does not say what young
 * payments say: no code can repair that.
 */
export async function reconciliationWorkflow(): Promise<RequeuedWork & { purged: number }> {
  const released = await requeueStaleWork();
  const purged = await purgeExpiredRecords();
  failOnFaults(await checkRecentPayments());
  return { ...released, purged };
}

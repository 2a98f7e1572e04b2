// The sweep: requeues stale work, removes expired records, and checks recent payments against the ledger.
import { proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities, RequeuedWork } from '../activities/reconciliation.ts';
import { failOnFaults } from './ledger-check.ts';
import { HOUSEKEEPING } from './policies.ts';

const { requeueStaleWork, checkRecentPayments, purgeExpiredRecords } =
  proxyActivities<ReconciliationActivities>(HOUSEKEEPING);

/**
 * One sweep. It requeues stale work, and fails, red in the Temporal UI, when recent payments and the ledger disagree:
 * no code can repair that.
 */
export async function reconciliationWorkflow(): Promise<RequeuedWork & { purged: number }> {
  const requeued = await requeueStaleWork();
  const purged = await purgeExpiredRecords();
  failOnFaults(await checkRecentPayments());
  return { ...requeued, purged };
}

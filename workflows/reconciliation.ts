// The sweep: removes expired records, and checks recent payments against the ledger.
import { proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities } from '../activities/reconciliation.ts';
import { failOnFaults } from './ledger-check.ts';
import { HOUSEKEEPING } from './policies.ts';

const { checkRecentPayments, purgeExpiredRecords } = proxyActivities<ReconciliationActivities>(HOUSEKEEPING);

/** One sweep. Fails, red in the Temporal UI, if recent payments and the ledger disagree: no code can repair a disagreement. */
export async function reconciliationWorkflow(): Promise<{ purged: number }> {
  const purged = await purgeExpiredRecords.executeWithOptions({ summary: 'remove expired records' }, []);
  const summary = 'check recent payments against the ledger';
  failOnFaults(await checkRecentPayments.executeWithOptions({ summary }, []));
  return { purged };
}

// The sweep: gives payments and deliveries that stand still back to be started, checks the ledger, removes what is old.
import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities, ReleasedWork } from '../activities/reconciliation.ts';
import { HOUSEKEEPING } from './policies.ts';

const { releaseOverdueWork, checkLedger, purgeExpiredRecords } =
  proxyActivities<ReconciliationActivities>(HOUSEKEEPING);

/**
 * One sweep. It repairs what stands still, and fails, red in the Temporal UI, when the ledger does not add up: no code
 * can repair that.
 */
export async function reconciliationWorkflow(): Promise<ReleasedWork & { purged: number }> {
  const released = await releaseOverdueWork();
  const purged = await purgeExpiredRecords();
  const faults = await checkLedger();
  if (faults.length > 0) {
    throw ApplicationFailure.nonRetryable(
      `the ledger does not add up in ${faults.length} places`,
      'LedgerFault',
      faults,
    );
  }
  return { ...released, purged };
}

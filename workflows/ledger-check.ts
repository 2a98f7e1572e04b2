// The workflow of the ledger check.
import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities } from '../activities/reconciliation.ts';
import { WHOLE_LEDGER } from './policies.ts';

const { checkLedger } = proxyActivities<ReconciliationActivities>(WHOLE_LEDGER);

/** Checks the whole ledger. Fails, red in the Temporal UI, when it does not add up: no code can repair that. */
export async function ledgerCheckWorkflow(): Promise<void> {
  failOnFaults(await checkLedger.executeWithOptions({ summary: 'check the whole ledger against all payments' }, []));
}

/** Throws an error that fails the workflow and lists the faults, if there are any. */
export function failOnFaults(faults: readonly unknown[]): void {
  if (faults.length === 0) return;
  throw ApplicationFailure.nonRetryable(`the ledger does not add up in ${faults.length} places`, 'LedgerFault', faults);
}

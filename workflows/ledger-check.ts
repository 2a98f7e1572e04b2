// The check of the whole ledger.
import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities } from '../activities/reconciliation.ts';
import { WHOLE_LEDGER } from './policies.ts';

const { checkLedger } = proxyActivities<ReconciliationActivities>(WHOLE_LEDGER);

/** One check. It fails, red in the Temporal UI, when the ledger does not add up: no code can repair that. */
export async function ledgerCheckWorkflow(): Promise<void> {
  failOnFaults(await checkLedger());
}

/** Throws what ends a workflow with the faults, if there are any. */
export function failOnFaults(faults: readonly unknown[]): void {
  if (faults.length === 0) return;
  throw ApplicationFailure.nonRetryable(`the ledger does not add up in ${faults.length} places`, 'LedgerFault', faults);
}

// The workflows of the checks of the ledger.
import { ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { ReconciliationActivities } from '../activities/reconciliation.ts';
import { LEDGER_CHECK } from './policies.ts';

const { checkLedger, checkWholeLedger } = proxyActivities<ReconciliationActivities>(LEDGER_CHECK);

/**
 * Checks the changes of the ledger since the previous check. Fails, red in the Temporal UI, if the ledger does not add up: no code can
 * repair it.
 */
export async function ledgerCheckWorkflow(): Promise<void> {
  const summary = 'check what changed in the ledger since the check before';
  failOnFaults(await checkLedger.executeWithOptions({ summary }, []));
}

/** Checks the whole ledger, and fails as `ledgerCheckWorkflow` does. */
export async function wholeLedgerCheckWorkflow(): Promise<void> {
  failOnFaults(
    await checkWholeLedger.executeWithOptions({ summary: 'check the whole ledger against all payments' }, []),
  );
}

/** Throws an error that fails the workflow and lists the faults, if there are any. */
export function failOnFaults(faults: readonly unknown[]): void {
  if (faults.length === 0) return;
  throw ApplicationFailure.nonRetryable(`the ledger does not add up in ${faults.length} places`, 'LedgerFault', faults);
}

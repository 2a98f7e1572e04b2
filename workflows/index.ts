// The entry of the workflow bundle: exports every workflow by its name.
export { collectionWorkflow } from './collection.ts';
export { deliveryWorkflow } from './delivery.ts';
export { ledgerCheckWorkflow, wholeLedgerCheckWorkflow } from './ledger-check.ts';
export { payoutWorkflow } from './payout.ts';
export { reversalWorkflow } from './reversal.ts';
export { reconciliationWorkflow } from './reconciliation.ts';

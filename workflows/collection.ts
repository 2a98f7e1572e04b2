// One collection from recorded to final: raise the prompt, wait for the operator's outcome, record it.
import { setCurrentDetails } from '@temporalio/workflow';
import type { CollectionState } from '../src/domain/payments/collection.ts';
import { awaitOutcome } from './await-outcome.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { countSignals, finish, sendNewPayment } from './payment.ts';

/**
 * Ends when the collection is final; returns its state. The row is the truth: a new run after a lost run continues from the recorded state.
 */
export async function collectionWorkflow(input: PaymentWorkflowInput<'collection'>): Promise<CollectionState> {
  const signals = countSignals();
  setCurrentDetails('Asking the operator to raise the prompt on the payer’s phone.');
  const seen = { ...signals };
  const { payment, snapshot } = await sendNewPayment(input);
  return finish(await awaitOutcome(payment, snapshot, signals, seen));
}

// One collection from recorded to final: raise the prompt, wait for the operator's outcome, record it.
import { setCurrentDetails } from '@temporalio/workflow';
import type { CollectionState } from '../src/domain/payments/collection.ts';
import { isQueriedAfterCallback } from '../src/domain/payments/payment.ts';
import { awaitOutcome, recheck } from './await-outcome.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { countSignals, finish, loadPayment, sendPayment } from './payment.ts';
import { showState } from './shown-state.ts';

/**
 * Ends when the collection is final, with its state. The row is the truth: a run that is lost and started again
 * continues from the state that it finds. A run for a final collection rechecks it once: whether an expired one was
 * paid after all, whether a paid one was returned, and whether the operator still says that a failed one failed.
 */
export async function collectionWorkflow(input: PaymentWorkflowInput<'collection'>): Promise<CollectionState> {
  const signals = countSignals();
  setCurrentDetails('Asking the operator to raise the prompt on the payer’s phone.');
  const { payment, snapshot } = await loadPayment(input);
  if (isQueriedAfterCallback(payment.kind, snapshot.state)) {
    return finish(await recheck(payment, snapshot, signals));
  }
  showState(payment, snapshot);
  const sent = snapshot.state === 'initiated' ? await sendPayment(payment, snapshot) : snapshot;
  return finish(await awaitOutcome(payment, sent, signals));
}

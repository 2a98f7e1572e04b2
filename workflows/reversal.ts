// One reversal that an approver requested: send the refund, wait for the operator's outcome, record it.
import { setCurrentDetails } from '@temporalio/workflow';
import { isRecheckable } from '../src/domain/payments/payment.ts';
import type { ReversalState } from '../src/domain/payments/reversal.ts';
import { awaitOutcome, recheck } from './await-outcome.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { countSignals, finish, loadPayment, sendPayment } from './payment.ts';

/** Ends when the reversal is final, with its state. Lost runs and rechecks are as for payouts. */
export async function reversalWorkflow(input: PaymentWorkflowInput<'reversal'>): Promise<ReversalState> {
  const signals = countSignals();
  const loaded = await loadPayment(input);
  const { payment } = loaded;
  let { snapshot } = loaded;
  if (isRecheckable(snapshot.state)) return finish(await recheck(payment, snapshot, signals));
  if (snapshot.state === 'requested') {
    setCurrentDetails('Requesting the refund from the operator: see the pending activity.');
    snapshot = await sendPayment(payment, snapshot);
  }
  return finish(await awaitOutcome(payment, snapshot, signals));
}

// One reversal that a maker requested: wait for people to decide, send the refund, wait for the operator's outcome, record it.
import type { ReversalState } from '../src/domain/payments/reversal.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { sendMoneyOut } from './money-out.ts';
import { finish, loadPayment } from './payment.ts';

/** Ends when the reversal is final; returns its state. Lost runs are handled as for payouts. */
export async function reversalWorkflow(input: PaymentWorkflowInput<'reversal'>): Promise<ReversalState> {
  return finish(await sendMoneyOut(() => loadPayment(input)));
}

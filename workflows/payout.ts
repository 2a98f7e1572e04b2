// One payout from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import type { PayoutState } from '../src/domain/payments/payout.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { sendMoneyOut } from './money-out.ts';
import { finish, loadPayment } from './payment.ts';

/** Ends when the payout is final, with its state. */
export async function payoutWorkflow(input: PaymentWorkflowInput<'payout'>): Promise<PayoutState> {
  return finish(await sendMoneyOut(() => loadPayment(input)));
}

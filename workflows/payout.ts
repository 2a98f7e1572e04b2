// One payout from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import type { PayoutState } from '../src/domain/payments/payout.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { sendMoneyOut } from './money-out.ts';
import { finish, loadPayment, queryPayeeName } from './payment.ts';

/**
 * Ends when the payout is final; returns its state. People see the payee's name before they release the payout, but nothing waits for it.
 */
export async function payoutWorkflow(input: PaymentWorkflowInput<'payout'>): Promise<PayoutState> {
  const load = async () => {
    const loaded = await loadPayment(input);
    if (loaded.snapshot.state === 'queued') void queryPayeeName(loaded.payment);
    return loaded;
  };
  return finish(await sendMoneyOut(load));
}

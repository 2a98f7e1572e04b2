// One payout from recorded to final: wait for people to decide, send it, wait for the operator's outcome, record it.
import type { PayoutState } from '../src/domain/payments/payout.ts';
import type { PaymentWorkflowInput } from './contract.ts';
import { sendMoneyOut } from './money-out.ts';
import { finish, loadPayment, queryPayeeName } from './payment.ts';

/** Ends when the payout is final, with its state. Nothing waits for the name of its payee, which people see before they release it. */
export async function payoutWorkflow(input: PaymentWorkflowInput<'payout'>): Promise<PayoutState> {
  const load = async () => {
    const loaded = await loadPayment(input);
    if (loaded.snapshot.state === 'queued') void queryPayeeName(loaded.payment);
    return loaded;
  };
  return finish(await sendMoneyOut(load));
}

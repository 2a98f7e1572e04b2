// Turns what an operator answered to a status query into the operator status of a payment.
import type { Money } from '../src/domain/money.ts';
import type { OperatorStatus } from '../src/domain/payments/operator-status.ts';
import type { PaymentId } from '../src/domain/payments/payment.ts';
import type { Log } from '../src/log.ts';
import { isPaidAsRequested } from '../src/operators/paid-money.ts';
import type { StatusOutcome } from '../src/operators/port.ts';

/** With other money than was requested, to the unit, or none to be read, it is `paid_otherwise`. Logs what cannot be read. */
export function operatorStatusOf(
  outcome: StatusOutcome,
  { id, money }: { readonly id: PaymentId; readonly money: Money },
  log: Log,
): OperatorStatus {
  if (outcome.kind === 'unreadable' || outcome.kind === 'paid_unreadable') {
    log.error({ id, reason: outcome.reason }, 'the operator has the payment, but the status cannot be read');
  }
  if ('paid' in outcome && !isPaidAsRequested(outcome.paid, money)) {
    return { kind: 'paid_otherwise', operatorReceipt: outcome.receipt, reported: outcome.paid };
  }
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'unknown':
      return { kind: outcome.kind };
    case 'paid_unreadable':
      return { kind: 'paid_otherwise', operatorReceipt: outcome.receipt, reported: null };
    case 'succeeded':
      return { kind: 'paid', operatorReceipt: outcome.receipt };
    case 'returned':
      return { kind: 'returned', operatorReceipt: outcome.receipt };
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code };
  }
}

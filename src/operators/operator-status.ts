// Turns what an operator answered to a status query into the operator status of a payment, whatever decimal format it uses.
import { toDecimalString, type Money } from '../domain/money.ts';
import type { OperatorStatus } from '../domain/payments/operator-status.ts';
import type { Paid, StatusOutcome } from './port.ts';

/** With other money than was requested, to the unit, or none to be read, it is `paid_otherwise`. */
export function operatorStatusOf(outcome: StatusOutcome, requested: Money): OperatorStatus {
  if ('paid' in outcome && !isPaidAsRequested(outcome.paid, requested)) {
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

/** True when the amounts are equal as numbers ("500", "500.0" and "0500" are) and the currencies are the same. */
export function isPaidAsRequested(paid: Paid, requested: Money): boolean {
  return paid.currency === requested.currency && canonical(paid.amount) === canonical(toDecimalString(requested));
}

// Text and not `number`: amounts can be larger than a float holds exactly.
function canonical(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = whole.replace(/^0+(?=\d)/, '');
  const rest = fraction.replace(/0+$/, '');
  return rest === '' ? digits : `${digits}.${rest}`;
}

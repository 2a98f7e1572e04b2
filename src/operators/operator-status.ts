// Turns the outcome of a status query into the operator status of a payment, whatever decimal format the operator uses.
import { toDecimalString, type Money } from '../domain/money.ts';
import type { OperatorStatus } from '../domain/payments/operator-status.ts';
import type { Paid, Reported, StatusOutcome } from './port.ts';

type Requested = Money & {
  readonly phone: string;
  readonly operatorReceipt?: string | null;
  readonly receiptFollows?: boolean;
};

/**
 * A paid payment is `paid_otherwise` if its money differs at all from the request, if another phone paid, or if its money cannot be
 * read. It is `unreadable` if the status lacks the receipt that it should name. An unpaid payment with other money or another phone is
 * `other_payment`.
 */
export function operatorStatusOf(outcome: StatusOutcome, requested: Requested): OperatorStatus {
  if (!isAsRequested(outcome, requested)) {
    return 'receipt' in outcome
      ? {
          kind: 'paid_otherwise',
          operatorReceipt: outcome.receipt,
          reported: 'paid' in outcome ? (outcome.paid ?? null) : null,
        }
      : { kind: 'other_payment' };
  }
  switch (outcome.kind) {
    case 'pending':
    case 'not_found':
    case 'unreadable':
    case 'asked':
    case 'unknown':
      return { kind: outcome.kind };
    case 'paid_unreadable':
      return { kind: 'paid_otherwise', operatorReceipt: outcome.receipt, reported: null };
    case 'succeeded':
      return outcome.receipt === null && !requested.receiptFollows
        ? { kind: 'unreadable' }
        : { kind: 'paid', operatorReceipt: outcome.receipt };
    case 'returned': {
      // Only a receipt proves that the payment was paid, and a wrong guess would post money that does not exist: a person must find out.
      const operatorReceipt = outcome.receipt ?? requested.operatorReceipt ?? null;
      return operatorReceipt === null
        ? { kind: 'paid_otherwise', operatorReceipt, reported: null }
        : { kind: 'returned', operatorReceipt };
    }
    case 'failed':
      return { kind: 'declined', failureCode: outcome.code, ...(outcome.isFloatLow && { isFloatLow: true }) };
  }
}

function isAsRequested(outcome: StatusOutcome & Reported, requested: Requested): boolean {
  const { phone = requested.phone } = outcome;
  const money = 'paid' in outcome ? outcome.paid : outcome.money;
  return isPhone(phone, requested.phone) && (money === undefined || isPaidAsRequested(money, requested));
}

function isPhone(reported: string, phone: string): boolean {
  const isDigitOf = (digit: string, at: number) => digit === '*' || digit === phone[at];
  return reported.length === phone.length && Array.from(reported).every(isDigitOf);
}

/** True when the amounts are equal as numbers ("500", "500.0" and "0500" are) and the currencies are the same. */
export function isPaidAsRequested(paid: Paid, requested: Money): boolean {
  return paid.currency === requested.currency && canonical(paid.amount) === canonical(toDecimalString(requested));
}

// Compares texts and not `number`s: amounts can be larger than a float holds exactly.
function canonical(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = whole.replace(/^0+(?=\d)/, '');
  const rest = fraction.replace(/0+$/, '');
  return rest === '' ? digits : `${digits}.${rest}`;
}

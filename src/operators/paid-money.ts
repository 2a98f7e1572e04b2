// Compares the money that an operator reports as paid with the money we requested, whatever its decimal format.
import { toDecimalString, type Money } from '../domain/money.ts';
import type { Paid } from './port.ts';

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

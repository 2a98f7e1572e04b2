// The error for an available balance that does not cover a payout or a refund, with the part of the balance that refunds reserve.
import { DomainError } from '../errors.ts';
import { toDecimalString, type Money } from '../money.ts';

/** `reserved`: the part of the available balance that unpaid refunds will take. */
export function balanceInsufficient(noun: 'payout' | 'refund', reserved: Money): DomainError {
  const amount = `${toDecimalString(reserved)} ${reserved.currency}`;
  const because =
    reserved.amountMinor === 0n ? '' : ` Refunds that are not paid yet reserve ${amount} of that balance.`;
  return new DomainError(
    'balance_insufficient',
    `The available balance does not cover this ${noun}.${because} ${NEXT[noun]} Collect more, then use a new Idempotency-Key.`,
  );
}

const NEXT = { payout: 'Nothing was held.', refund: 'Nothing was requested.' } as const;

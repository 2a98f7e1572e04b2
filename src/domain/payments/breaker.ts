// The breaker of an operator's product: while it is open nobody calls the operator, except one call after each pause. Pure.
import type { PaymentKind } from './payment.ts';

/** The products of an operator, each with its own credentials and outages: money from phones, and money to phones. */
export const PRODUCTS = ['collection', 'disbursement'] as const;
export type Product = (typeof PRODUCTS)[number];

const PRODUCT_OF: Readonly<Record<PaymentKind, Product>> = {
  collection: 'collection',
  payout: 'disbursement',
  reversal: 'disbursement',
};

export function productOf(kind: PaymentKind): Product {
  return PRODUCT_OF[kind];
}

/** The kinds of payments for which the product is called. */
export function kindsOf(products: readonly Product[]): PaymentKind[] {
  return (Object.keys(PRODUCT_OF) as PaymentKind[]).filter((kind) => products.includes(PRODUCT_OF[kind]));
}

/**
 * Why a call had no usable answer, for a cause that concerns every payment. `account`: the operator refuses our own account (token,
 * address, PIN, product, currency, callback host), and a person must act. `busy`: the operator takes no calls now. It says so before it
 * does anything, so the call may be repeated. `no_answer`: nothing came back, and the operator may have acted.
 */
export type Trouble = 'account' | 'busy' | 'no_answer';

/** Why a breaker is open; `staff`: a person opened it, and it stays open until a person closes it. */
export const BREAKER_CAUSES = ['account', 'busy', 'no_answer', 'staff'] as const;
export type BreakerCause = (typeof BREAKER_CAUSES)[number];

/** A breaker that is not closed. */
export type OpenBreaker = {
  readonly product: Product;
  /** `half_open`: one call is in progress, to find out whether the operator answers again. */
  readonly state: 'open' | 'half_open';
  readonly cause: BreakerCause;
  /** A status and a code of the operator, or the words of the staff. */
  readonly reason: string;
  readonly openedAt: Date;
};

/**
 * A process opens the breaker after this many calls in a row with trouble. A lower number would open the breaker for the few payments
 * that the operator takes late, while it takes all others. Each further call is a payment that was perhaps sent and must be queried.
 */
export const TROUBLES_TO_OPEN = 5;

/** The pause after a call that followed `pauses` pauses and had trouble again, in milliseconds. */
export function pauseMs(schedule: readonly number[], pauses: number): number {
  return schedule[Math.min(pauses, schedule.length - 1)] ?? 0;
}

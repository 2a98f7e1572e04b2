// What people ask of lists of payments: filters, orders, the place where a page ends, and counts that stop somewhere.
import type { UserId } from '../ids.ts';

export const LIST_ORDERS = ['newest', 'oldest', 'largest', 'smallest'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** All that is given must be so. */
export type ListFilter = {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly string[];
  readonly reference?: string;
  readonly phone?: string;
  readonly idempotencyKey?: string;
  readonly operatorReference?: string;
  readonly createdBy?: string;
  readonly apiKeyId?: string;
  /** Only collections that payers made at it. */
  readonly checkoutId?: string;
  readonly operator?: string;
  /** Inclusive. */
  readonly amountFrom?: bigint;
  /** Inclusive. */
  readonly amountTo?: bigint;
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
  /** Only payouts that this person neither made nor approved, and that have not expired then. */
  readonly waitingFor?: { readonly userId: UserId; readonly at: Date };
};

/** The place of a payment in a list: the list goes on after it. */
export type ListPlace = { readonly id: string; readonly amountMinor: bigint };

export type ListRequest = {
  readonly filter: ListFilter;
  readonly order: ListOrder;
  readonly after: ListPlace | null;
  readonly limit: number;
};

/** At most as many as were asked for. With fewer of them, and `next`, no more were found in what one page looks through. */
export type ListedPage<Payment> = { readonly items: readonly Payment[]; readonly next: ListPlace | null };

/** How many match; with `isAtLeast`, so many or more. */
export type BoundedCount = { readonly count: number; readonly isAtLeast: boolean };

/** Counted up to here. */
export const MAX_COUNTED = 1000;

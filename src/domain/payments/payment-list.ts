// Requests for lists of payments: filters, orders, the place where a page ends, and bounded counts.
import type { UserId } from '../ids.ts';

export const LIST_ORDERS = ['newest', 'oldest', 'largest', 'smallest'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/** A payment must match every given field. */
export type ListFilter = {
  /** Any of these states; an empty list matches nothing. */
  readonly states?: readonly string[];
  readonly reference?: string;
  readonly phone?: string;
  readonly idempotencyKey?: string;
  readonly operatorReference?: string;
  readonly createdBy?: string;
  readonly apiKeyId?: string;
  /** Only collections that payers made at this checkout. */
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
  /** Only payouts that this person neither made nor approved, and that have not expired at this time. */
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

/** At most `limit` items. Fewer items with a `next` mean that one page's search ended before it found more. */
export type ListedPage<Payment> = { readonly items: readonly Payment[]; readonly next: ListPlace | null };

/** How many payments match; with `isAtLeast`, this number or more. */
export type BoundedCount = { readonly count: number; readonly isAtLeast: boolean };

/** Matches are counted up to this number. */
export const MAX_COUNTED = 1000;

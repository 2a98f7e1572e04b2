// A checkout: a page at which a payer pays one merchant; its state, and when it takes another attempt to pay.
import { DomainError } from '../errors.ts';
import type { CheckoutId, MerchantId, UserId } from '../ids.ts';
import type { Currency } from '../money.ts';
import type { Collection } from './collection.ts';

export const CHECKOUT_STATES = ['open', 'completed', 'expired', 'cancelled'] as const;
export type CheckoutState = (typeof CHECKOUT_STATES)[number];

export const CHECKOUT_USES = ['one_time', 'reusable'] as const;
export type CheckoutUse = (typeof CHECKOUT_USES)[number];

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The life of a one-time checkout whose merchant sets no expiry. */
export const DEFAULT_CHECKOUT_LIFE_MS = 7 * DAY_MS;
export const SHORTEST_CHECKOUT_LIFE_MS = 5 * MINUTE_MS;
export const LONGEST_CHECKOUT_LIFE_MS = 366 * DAY_MS;
export const MAX_RETURN_URL_LENGTH = 1000;
/** How many attempts the console shows, newest first. */
export const MOST_SHOWN_ATTEMPTS = 100;
/** Paid attempts are counted up to this number. */
export const MOST_COUNTED_PAID = 100;

export type Checkout = {
  readonly id: CheckoutId;
  /** Part of the page's address: anyone who knows the code may try to pay. */
  readonly code: string;
  readonly merchantId: MerchantId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly reference: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly use: CheckoutUse;
  readonly returnUrl: string | null;
  /** Null: never. Only a reusable checkout may have none. */
  readonly expiresAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly createdBy: UserId;
  readonly createdAt: Date;
};

/** The fields of an attempt's collection that show how far the attempt is. */
export type Attempt = Pick<Collection, 'state' | 'failureCode' | 'updatedAt'>;

/**
 * `live`: the attempt may be paid at any moment. `undecided`: the operator never said how the attempt ended, so it may still be paid.
 * `returned`: the attempt was paid, and the money went back.
 */
export type AttemptStage = 'live' | 'paid' | 'returned' | 'undecided' | 'over';

export function stageOf({ state, failureCode }: Pick<Attempt, 'state' | 'failureCode'>): AttemptStage {
  switch (state) {
    case 'initiated':
    case 'prompted':
    case 'reconciling':
      return 'live';
    case 'succeeded':
      return 'paid';
    case 'reversed':
      return 'returned';
    case 'expired':
      return failureCode === 'unknown' ? 'undecided' : 'over';
    case 'failed':
      return 'over';
  }
}

/**
 * The state of the checkout at this time, from the recorded facts. Once paid, a one-time checkout stays completed, even if it had
 * expired or been cancelled, or if the money is returned later.
 */
export function checkoutState(
  { use, expiresAt, cancelledAt }: Pick<Checkout, 'use' | 'expiresAt' | 'cancelledAt'>,
  wasPaid: boolean,
  at: Date,
): CheckoutState {
  if (use === 'one_time' && wasPaid) return 'completed';
  if (cancelledAt !== null) return 'cancelled';
  return expiresAt !== null && at >= expiresAt ? 'expired' : 'open';
}

/**
 * Why a checkout takes no attempt now. `unserved`: no operator here takes its currency. `waiting`: the previous attempt may turn out
 * to be paid until that time.
 */
export type AttemptRefusal =
  | { readonly kind: 'completed' | 'cancelled' | 'expired' | 'live' | 'undecided' | 'unserved' }
  | { readonly kind: 'waiting'; readonly until: Date };

/**
 * Null: the checkout takes another attempt now. `earlier` contains all attempts of a one-time checkout, or the live attempts from the
 * same phone at a reusable checkout. Nobody is asked to pay a second time while they can still pay the first: not during an attempt,
 * not after an undecided attempt, and not for a while after an expired attempt.
 */
export function refusalOfAttempt(
  checkout: Checkout,
  earlier: readonly Attempt[],
  at: Date,
  secondAttemptWaitMs: number,
): AttemptRefusal | null {
  const stages = earlier.map(stageOf);
  const wasPaid = stages.includes('paid') || stages.includes('returned');
  const state = checkoutState(checkout, wasPaid, at);
  if (state !== 'open') return { kind: state };
  if (stages.includes('live')) return { kind: 'live' };
  if (checkout.use === 'reusable') return null;
  if (stages.includes('undecided')) return { kind: 'undecided' };
  const until = new Date(Math.max(...earlier.map((attempt) => mayBePaidUntilMs(attempt, secondAttemptWaitMs)), 0));
  return until > at ? { kind: 'waiting', until } : null;
}

// The operator refused a failed attempt, and an attempt that was never sent cannot be paid.
function mayBePaidUntilMs({ state, failureCode, updatedAt }: Attempt, waitMs: number): number {
  return state === 'expired' && failureCode !== 'service_unavailable' ? updatedAt.getTime() + waitMs : 0;
}

/** The refusal of an attempt, for the page that says why. */
export class AttemptRefused extends DomainError {
  readonly refusal: AttemptRefusal;

  constructor(refusal: AttemptRefusal) {
    super('state_conflict', 'This checkout takes no payment now.');
    this.name = 'AttemptRefused';
    this.refusal = refusal;
  }
}

/** The key under which an attempt creates its collection: the same form, posted again, is the same attempt. */
export function attemptKey(id: CheckoutId, tokenSha256: Buffer): string {
  return `checkout:${id}:${tokenSha256.toString('base64url')}`;
}

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
/** Of a one-time checkout whose merchant names no time. */
export const DEFAULT_CHECKOUT_LIFE_MS = 7 * DAY_MS;
export const SHORTEST_CHECKOUT_LIFE_MS = 5 * MINUTE_MS;
export const LONGEST_CHECKOUT_LIFE_MS = 366 * DAY_MS;
export const MAX_RETURN_URL_LENGTH = 1000;
/** What the console shows of them, newest first. */
export const MOST_SHOWN_ATTEMPTS = 100;
/** As many paid attempts are counted. */
export const MOST_COUNTED_PAID = 100;

export type Checkout = {
  readonly id: CheckoutId;
  /** In the address of its page: whoever knows it may try to pay. */
  readonly code: string;
  readonly merchantId: MerchantId;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly reference: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly use: CheckoutUse;
  readonly returnUrl: string | null;
  /** Null: never, which only a reusable one may. */
  readonly expiresAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly createdBy: UserId;
  readonly createdAt: Date;
};

/** How the collection of an attempt stands. */
export type Attempt = Pick<Collection, 'state' | 'failureCode' | 'updatedAt'>;

/**
 * `live`: it may be paid any moment. `undecided`: the operator never said how it ended, so it may be paid still.
 * `returned`: it was paid, and the money went back.
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
 * What is true of it at that moment, from what is recorded. Once money came in, a one-time checkout is completed for ever, whatever
 * happened to it before or happens to the money later.
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

/** Why a checkout takes no attempt now. `unserved`: no operator takes its currency here. `waiting`: until then it may show that the one before was paid after all. */
export type AttemptRefusal =
  | { readonly kind: 'completed' | 'cancelled' | 'expired' | 'live' | 'undecided' | 'unserved' }
  | { readonly kind: 'waiting'; readonly until: Date };

/**
 * Null: it takes another attempt now. `earlier` are all attempts of a one-time checkout, and of a reusable one those of the same phone
 * that are live. Nobody is asked to pay a second time while they can still pay the first: not during an attempt, not after one of which
 * the operator never said how it ended, and for a while not after one that expired.
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

// What failed was refused by the operator, and what was never sent cannot be paid.
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

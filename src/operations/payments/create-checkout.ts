// Creates a checkout, once per idempotency key, and cancels a checkout.
import { recordAct } from '../../db/accounts/audit.ts';
import { findNames } from '../../db/accounts/names.ts';
import {
  insertCheckout,
  cancelCheckout as cancelRow,
  countPaid,
  findCheckoutLocked,
} from '../../db/payments/checkout.ts';
import { respondOnce } from '../../db/payments/idempotency-key.ts';
import type { Database } from '../../db/platform/database.ts';
import type { ByPerson, KnownPerson } from '../../domain/accounts/member.ts';
import { notFound, stateConflict } from '../../domain/errors.ts';
import { idTimeMs, newId, isId } from '../../domain/ids.ts';
import {
  DEFAULT_CHECKOUT_LIFE_MS,
  LONGEST_CHECKOUT_LIFE_MS,
  SHORTEST_CHECKOUT_LIFE_MS,
  checkoutState,
  type Checkout,
  type CheckoutUse,
} from '../../domain/payments/checkout.ts';
import { amountIssue } from '../../domain/payments/amount-rules.ts';
import { takersOf } from '../../domain/payments/operator-catalogue.ts';
import { currencyIssue, throwIfAny, type PaymentRequest } from '../../domain/payments/payment-request.ts';
import type { StoredOutcome } from '../../domain/payments/stored-outcome.ts';
import { keyedRequest } from '../../security/request-fingerprint.ts';
import { newCode } from '../../security/token.ts';
import type { PaymentContext } from './payment-context.ts';

export type CheckoutRequest = Omit<PaymentRequest, 'phone' | 'operator'> & {
  readonly use: CheckoutUse;
  readonly returnUrl: string | null;
  /** Null: the usual lifetime. */
  readonly expiresAt: Date | null;
};

export type CreateCheckout = ByPerson & {
  readonly idempotencyKey: string;
  readonly request: CheckoutRequest;
  /** Returns the new checkout as the response shows it. */
  readonly present: (checkout: Checkout, createdBy: KnownPerson) => object;
};

export type CreatedCheckout = StoredOutcome<readonly []>;

/**
 * One transaction claims the key, inserts the checkout and the audit entry, and stores the response. Repeating the call returns the stored
 * response. Throws one error that lists every problem with the request, and the errors of `claimIdempotencyKey`.
 */
export async function createCheckout(context: PaymentContext, input: CreateCheckout): Promise<CreatedCheckout> {
  const { by, at } = input;
  const { merchantId, userId } = by.person;
  const request = keyedRequest('/v1/console/checkouts', { ...input, merchantId }, input.request);
  return respondOnce(context.db, request, async (tx) => {
    requirePayable(context, input);
    const checkout = newCheckout(input);
    const createdBy = (await findNames(tx, merchantId, [userId], [])).person(userId);
    const response = { status: 201, body: JSON.stringify(input.present(checkout, createdBy)) };
    await insertCheckout(tx, checkout);
    const after = { amount: Number(checkout.amountMinor), use: checkout.use, return_url: checkout.returnUrl };
    await recordAct(tx, by, { action: 'checkout.created', subjectId: checkout.id, after, at });
    return { kind: 'accepted', response, payments: [] };
  });
}

function newCheckout({ by, request, at }: CreateCheckout): Checkout {
  const id = newId('chk', at.getTime());
  // Lists filter by the time in the id, so the checkout is created at that time.
  const createdAt = new Date(idTimeMs(id));
  const usualEnd = request.use === 'one_time' ? new Date(createdAt.getTime() + DEFAULT_CHECKOUT_LIFE_MS) : null;
  return {
    ...request,
    id,
    code: newCode(),
    merchantId: by.person.merchantId,
    currency: by.person.merchantCurrency,
    expiresAt: request.expiresAt ?? usualEnd,
    cancelledAt: null,
    createdBy: by.person.userId,
    createdAt,
  };
}

/** Refuses a checkout that no payer could ever pay, now, while a person who can change it is present. */
function requirePayable({ coverage, environment }: PaymentContext, { by, request, at }: CreateCheckout): void {
  const { merchantCurrency: currency } = by.person;
  const takers = takersOf('collection', currency, coverage);
  const lifeMs = request.expiresAt === null ? null : request.expiresAt.getTime() - at.getTime();
  throwIfAny([
    currencyIssue(request.currency, currency),
    takers.length === 0
      ? invalid('currency', `No available operator supports ${currency}, so nobody could pay.`)
      : null,
    amountIssue(request.amountMinor, currency, takers),
    lifeMs !== null && (lifeMs < SHORTEST_CHECKOUT_LIFE_MS || lifeMs > LONGEST_CHECKOUT_LIFE_MS)
      ? invalid('expires_at', 'expires_at must be from 5 minutes to 366 days ahead.')
      : null,
    environment === 'live' && request.returnUrl?.startsWith('http:') === true
      ? invalid('return_url', 'return_url must begin with https:// in the live environment.')
      : null,
  ]);
}

function invalid(param: string, message: string) {
  return { param, code: 'parameter_invalid' as const, message };
}

/**
 * A live attempt continues: its prompt is on the payer's phone. Cancelling a cancelled checkout changes nothing. Throws
 * `checkout_not_found`, and `state_conflict` for a checkout that ended in another way.
 */
export async function cancelCheckout(db: Database, { by, id, at }: ByPerson & { readonly id: string }): Promise<void> {
  const { merchantId } = by.person;
  await db.withTransaction(async (tx) => {
    const checkout = isId('chk', id) ? await findCheckoutLocked(tx, merchantId, id) : null;
    if (!checkout) throw notFound('checkout');
    const wasPaid = (await countPaid(tx, [checkout.id])).get(checkout.id) !== 0;
    const state = checkoutState(checkout, wasPaid, at);
    if (state === 'cancelled') return;
    if (state !== 'open') throw stateConflict(`This checkout is already ${state}.`);
    await cancelRow(tx, checkout.id, at);
    await recordAct(tx, by, { action: 'checkout.cancelled', subjectId: checkout.id, at });
  });
}

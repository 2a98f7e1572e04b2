// Checkouts on the wire.
import { z } from 'zod';
import {
  CHECKOUT_STATES,
  CHECKOUT_USES,
  checkoutState,
  MAX_RETURN_URL_LENGTH,
  MOST_COUNTED_PAID,
  MOST_SHOWN_ATTEMPTS,
  type Checkout,
} from '../../../domain/payments/checkout.ts';
import { parseWebAddress } from '../../../domain/web-address.ts';
import type { KnownPerson } from '../../../domain/accounts/member.ts';
import { failure as failureOf } from '../../../domain/payments/failure.ts';
import { isId } from '../../../domain/ids.ts';
import { isFinal } from '../../../domain/payments/payment.ts';
import type { CheckoutRequest } from '../../../operations/payments/create-checkout.ts';
import type { getConsoleCheckout, ConsoleCheckout } from '../../../operations/payments/read-checkouts.ts';
import { knownPerson } from '../accounts/person.ts';
import { pageQuery, pageSchema, rangeOf, timeFilters } from '../page.ts';
import { amount, idOf, instant, metadata, objectSchema, printable, time, unlessMissing } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';
import { definedFields } from '../../validation.ts';
import { collectionState } from './collection.ts';
import {
  currency,
  failure,
  operator,
  paymentFields,
  paymentFilters,
  shownAmount,
  shownDescription,
  shownMetadata,
  shownPhone,
  shownReference,
} from './payment.ts';

const RETURN_URL_MESSAGE = `return_url must be an https address without a name or password in it, of at most ${MAX_RETURN_URL_LENGTH} characters.`;
const RETURN_URL_EXAMPLE = 'https://shop.example/orders/1042';
const checkoutUse = z.enum(CHECKOUT_USES).meta({
  id: 'CheckoutUse',
  description: '`one_time` is for one payment; `reusable` takes any number of them, such as a code at a till.',
});
const state = z.enum(CHECKOUT_STATES).meta({
  id: 'CheckoutState',
  description:
    '`completed`: one-time, and a payment arrived, even if it was returned later. `expired` and `cancelled` accept ' +
    'no new attempt; an attempt in progress may still be paid.',
});

/** Visible ASCII only, so that people see the true address. */
function isReturnUrl(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || text.length > MAX_RETURN_URL_LENGTH) return false;
  const url = parseWebAddress(text);
  return url?.username === '' && url.password === '' && (url.protocol === 'https:' || isLoopback(url));
}

function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

export const createCheckoutSchema = z
  .strictObject({
    amount,
    reference: paymentFields.reference.meta({
      description: 'Your reference, which need not be unique. Every collection of the checkout has it.',
      example: 'INV-1042',
    }),
    currency: paymentFields.currency,
    description: printable('description', 120)
      .optional()
      .meta({ description: 'Shown to the payer.', example: 'Two bags of maize' }),
    metadata: metadata.optional().meta({
      description: 'As for a collection. Every collection of the checkout has it.',
      example: { order: '1042' },
    }),
    use: checkoutUse.default('one_time'),
    expires_at: instant('expires_at').optional().meta({
      description:
        '5 minutes to 366 days ahead. Default: a one-time checkout expires after 7 days, a reusable one never.',
    }),
    return_url: z
      .string({ error: unlessMissing('return_url must be text.') })
      .refine(isReturnUrl, { error: RETURN_URL_MESSAGE })
      .transform((text) => text.replace(/^https?/i, (scheme) => scheme.toLowerCase()))
      .optional()
      .meta({
        description:
          'Your address, linked to unchanged once the outcome of an attempt is known. A visitor who follows the link is no ' +
          'proof of payment. `http` only to this machine, in the test environment.',
        example: RETURN_URL_EXAMPLE,
        override: {
          type: 'string',
          maxLength: MAX_RETURN_URL_LENGTH,
          pattern: '^[hH][tT][tT][pP][sS]?://[\\x21-\\x7e]+$',
        },
      }),
  })
  .meta({
    id: 'CreateCheckout',
    // Without an end time, which would be in the past some day.
    example: { amount: 25000, reference: 'INV-1042', description: 'Two bags of maize', return_url: RETURN_URL_EXAMPLE },
  });

export function toCheckoutRequest(body: z.output<typeof createCheckoutSchema>): CheckoutRequest {
  return {
    amountMinor: BigInt(body.amount),
    reference: body.reference,
    currency: body.currency ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
    use: body.use,
    returnUrl: body.return_url ?? null,
    expiresAt: body.expires_at ?? null,
  };
}

export const checkoutSchema = objectSchema('Checkout', {
  id: idOf('chk'),
  url: z.url().meta({
    description:
      'Where payers pay, for a link or a QR code. Anyone who has the address can see the amount and try to pay.',
    example: 'https://pay.example/pay/3f9k2m7q0r5t8w1x4z6a9c2e5g7j0m3p',
    override: { type: 'string', format: 'uri' },
  }),
  state,
  amount: shownAmount,
  currency,
  reference: shownReference,
  description: shownDescription,
  metadata: shownMetadata,
  use: checkoutUse,
  return_url: z.string().nullable().meta({ example: RETURN_URL_EXAMPLE }),
  paid_count: z
    .int()
    .min(0)
    .max(MOST_COUNTED_PAID)
    .meta({
      description:
        `How many attempts were paid, including those whose money was returned later. ${MOST_COUNTED_PAID} means that ` +
        'many or more. More than 1 for a one-time checkout: a payment arrived late, after another attempt. Refund one of ' +
        'them.',
      example: 0,
    }),
  expires_at: time.nullable().meta({ description: 'Null: never.' }),
  cancelled_at: time.nullable().meta({ example: null }),
  created_at: time,
  created_by: knownPerson,
});
export const checkoutListSchema = pageSchema(checkoutSchema, 'CheckoutList');

const attemptSchema = objectSchema('CheckoutAttempt', {
  collection_id: idOf('col'),
  state: collectionState,
  phone: shownPhone,
  operator,
  failure,
  created_at: time,
  completed_at: time.nullable().meta({ description: 'Null while the outcome is pending.' }),
});

export const checkoutWithAttemptsSchema = objectSchema('CheckoutWithAttempts', {
  ...checkoutSchema.shape,
  attempts: z.array(attemptSchema).max(MOST_SHOWN_ATTEMPTS).meta({ description: 'The newest attempts, newest first.' }),
});

export const listCheckoutsSchema = z.strictObject({
  ...pageQuery((id) => isId('chk', id)).shape,
  state: state.optional(),
  reference: paymentFilters.reference,
  ...timeFilters,
});

export function checkoutFilter({ state: wanted, reference, ...range }: z.output<typeof listCheckoutsSchema>) {
  return { ...definedFields({ state: wanted, reference }), ...rangeOf(range) };
}

export function checkoutObject(
  { checkout, paidCount, createdBy }: Pick<ConsoleCheckout, 'checkout' | 'paidCount' | 'createdBy'>,
  publicUrl: string,
  at: Date,
) {
  return wireObject(checkoutSchema, {
    ...checkout,
    url: checkoutUrl(publicUrl, checkout),
    state: checkoutState(checkout, paidCount > 0, at),
    amount: checkout.amountMinor,
    paidCount,
    createdBy,
  });
}

export function newCheckoutObject(checkout: Checkout, createdBy: KnownPerson, publicUrl: string) {
  return checkoutObject({ checkout, createdBy, paidCount: 0 }, publicUrl, checkout.createdAt);
}

export function checkoutWithAttemptsObject(
  named: Awaited<ReturnType<typeof getConsoleCheckout>>,
  publicUrl: string,
  at: Date,
) {
  const attempts = named.attempts.map(({ collectionId, failureCode, createdAt, updatedAt, ...attempt }) => ({
    collection_id: collectionId,
    ...attempt,
    failure: failureCode === null ? null : failureOf(failureCode),
    created_at: createdAt.toISOString(),
    completed_at: isFinal(attempt.state) ? updatedAt.toISOString() : null,
  }));
  return { ...checkoutObject(named, publicUrl, at), attempts };
}

function checkoutUrl(publicUrl: string, { code }: Checkout): string {
  return new URL(`/pay/${code}`, publicUrl).href;
}

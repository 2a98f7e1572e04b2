// Checkouts in the console: create, list, fetch, cancel. Their pages are in src/api/pay.
import type { MerchantId } from '../../../domain/ids.ts';
import { cancelCheckout, createCheckout } from '../../../operations/payments/create-checkout.ts';
import { getConsoleCheckout, listConsoleCheckouts } from '../../../operations/payments/read-checkouts.ts';
import { route, routesUnder, type PaymentDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import {
  checkoutFilter,
  checkoutListSchema,
  checkoutObject,
  checkoutSchema,
  checkoutWithAttemptsObject,
  checkoutWithAttemptsSchema,
  createCheckoutSchema,
  listCheckoutsSchema,
  newCheckoutObject,
  toCheckoutRequest,
} from '../../schemas/payments/checkout.ts';

const BODY_CODES = { amount: { range: 'amount_out_of_bounds' } } as const;

export const checkoutRoutes = routesUnder<PaymentDeps>('Console checkouts', '/v1/console/checkouts', [
  route('POST', {
    operationId: 'createCheckout',
    summary: 'Create a page where a payer pays',
    description:
      'Send its `url` to the payer, or show it as a QR code. Each attempt to pay creates a collection, with the events of any collection.',
    access: { roles: ['maker'] },
    isIdempotent: true,
    body: createCheckoutSchema,
    bodyCodes: BODY_CODES,
    response: { status: 201, description: 'The checkout accepts payments from now on.', schema: checkoutSchema },
    errors: ['amount_out_of_bounds'],
    handle: async ({ by, idempotencyKey, body }, deps) => ({
      stored: await createCheckout(deps.payments, {
        by,
        idempotencyKey,
        request: toCheckoutRequest(body),
        present: (checkout, createdBy) => newCheckoutObject(checkout, createdBy, deps.publicUrl),
        at: new Date(),
      }),
    }),
  }),
  route('GET', {
    operationId: 'listCheckouts',
    summary: 'List checkouts, newest first',
    description:
      'A page examines a limited number of checkouts. With `state`, it may have fewer entries than `limit`, or none, ' +
      'and still a `next_cursor`.',
    access: 'session',
    ...onePage(listCheckoutsSchema, checkoutListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const at = new Date();
      const page = await listConsoleCheckouts(deps.db, merchantId, checkoutFilter(query), { limit: query.limit, at });
      return { body: pageObject(page, (each) => checkoutObject(each, deps.publicUrl, at)) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getCheckout',
    summary: 'Fetch one checkout with its payment attempts',
    access: 'session',
    ...oneObject('chk', 'The checkout.', checkoutWithAttemptsSchema),
    handle: async ({ merchantId, id }, deps) => ({ body: await show(deps, merchantId, id) }),
  }),
  route('DELETE /{id}', {
    operationId: 'cancelCheckout',
    summary: 'Cancel a checkout',
    description:
      'The checkout accepts no more payments. A payer can still approve a prompt that is already on the phone. Repeating the call changes nothing and is not an error.',
    access: { roles: ['maker'] },
    ...oneObject('chk', 'The checkout after the call.', checkoutWithAttemptsSchema),
    errors: ['state_conflict'],
    handle: async ({ merchantId, id, by }, deps) => {
      await cancelCheckout(deps.db, { by, id, at: new Date() });
      return { body: await show(deps, merchantId, id) };
    },
  }),
]);

async function show({ db, publicUrl }: PaymentDeps, merchantId: MerchantId, id: string) {
  return checkoutWithAttemptsObject(await getConsoleCheckout(db, merchantId, id), publicUrl, new Date());
}

// Payouts: create, list, fetch. People release them in the console.
import { payoutObject, statesOfApproval } from '../../../domain/payments/payout.ts';
import type { UserId } from '../../../domain/ids.ts';
import { getPayout, listPayouts } from '../../../db/payments/payout.ts';
import { createPayout, createPayoutAcceptance } from '../../../operations/payments/create-payout.ts';
import type { Caller } from '../../context.ts';
import { route, routesUnder, type PaymentDeps, type Route, type RoutePlace } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import {
  CREATE_PAYMENT_CODES,
  CREATE_PAYMENT_ERRORS,
  paymentFilter,
  wantedStates,
} from '../../schemas/payments/payment.ts';
import {
  createPayoutSchema,
  listPayoutsSchema,
  payoutListSchema,
  payoutSchema,
} from '../../schemas/payments/payout.ts';
import { acceptPayment } from './accept-payment.ts';

export const payoutRoutes = routesUnder<PaymentDeps>('Payouts', '/v1/api/payouts', [
  createRoute,
  route('GET', {
    operationId: 'listPayouts',
    summary: 'List payouts, newest first',
    access: { scope: 'payouts:read' },
    ...onePage(listPayoutsSchema, payoutListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const states = wantedStates(query, statesOfApproval);
      const filter = { ...paymentFilter(query), ...(states && { states }) };
      return { body: pageObject(await listPayouts(deps.db, merchantId, filter, query.limit), payoutObject) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getPayout',
    summary: 'Fetch one payout with its approval state',
    access: { scope: 'payouts:read' },
    ...oneObject('pay', 'The payout.', payoutSchema),
    handle: async ({ merchantId, id }, deps) => ({ body: payoutObject(await getPayout(deps.db, merchantId, id)) }),
  }),
]);

function createRoute(deps: PaymentDeps, place: RoutePlace): Route {
  const accept = createPayoutAcceptance(deps.payments);
  return route('POST', {
    operationId: 'createPayout',
    summary: 'Create a payout, queued for release by a second person',
    description:
      'The amount is held at once. Nothing is sent until a person other than the maker releases the payout in the ' +
      'console. If the available balance is too low, the response is 402 and is stored like any other. With a key, ' +
      '`state_conflict` means that the unreleased payouts of the key would hold more than the merchant’s policy ' +
      'allows. In the live environment, it can also mean that the merchant first needs a second owner with a second ' +
      'factor. A `state_conflict` is not stored: the same request may succeed later.',
    access: { scope: 'payouts:write', rolesAfterBody: ['maker'] },
    confirmsKey: true,
    isIdempotent: true,
    body: createPayoutSchema,
    bodyCodes: CREATE_PAYMENT_CODES,
    response: { status: 202, description: 'Held and queued.', schema: payoutSchema },
    errors: [...CREATE_PAYMENT_ERRORS, 'balance_insufficient', 'state_conflict'],
    handle: (request) =>
      acceptPayment(deps, request, {
        atOnce: async ({ maker, ...input }) => maker && (await accept({ ...input, createdBy: maker })),
        inTransaction: (input, caller) => createPayout(deps.payments, { ...input, createdBy: makerOf(caller) }),
      }),
  })(deps, place);
}

function makerOf({ actor }: Caller): UserId {
  if (actor.kind === 'person') return actor.person.userId;
  // A key whose maker has left lacks the scope, so it is refused earlier.
  if (actor.maker === null) throw new Error('a payout was requested with a key that has no creator');
  return actor.maker;
}

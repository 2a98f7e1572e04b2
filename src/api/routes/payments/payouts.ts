// Payouts: create, list, fetch. People release them in the console.
import { payoutObject, statesOfApproval } from '../../../domain/payments/payout.ts';
import type { ApiKeyId, UserId } from '../../../domain/ids.ts';
import { getPayout, listPayouts } from '../../../db/payments/payout.ts';
import {
  createPayout,
  createPayoutAcceptance,
  type CreatedPayout,
  type CreatePayout,
} from '../../../operations/payments/create-payout.ts';
import type { CachedKey, Caller } from '../../context.ts';
import type { PaymentDeps } from '../../payment-deps.ts';
import { route, type Route } from '../../route.ts';
import { pageObject } from '../../schemas/page.ts';
import {
  CREATE_PAYMENT_CODES,
  CREATE_PAYMENT_ERRORS,
  paymentFilter,
  toPaymentRequest,
  wantedStates,
} from '../../schemas/payments/payment.ts';
import {
  createPayoutSchema,
  listPayoutsSchema,
  payoutListSchema,
  payoutSchema,
} from '../../schemas/payments/payout.ts';

const TAG = 'Payouts';
const PATH = '/v1/api/payouts';

export function payoutRoutes(deps: PaymentDeps): Route[] {
  return [createRoute(deps), listRoute(deps), fetchRoute(deps)];
}

function createRoute(deps: PaymentDeps): Route {
  const accept = createPayoutAcceptance(deps.payments);
  return route(deps, {
    method: 'post',
    path: PATH,
    operationId: 'createPayout',
    tag: TAG,
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
    handle: async ({ caller, by, requestId, idempotencyKey, body, cachedKey }) => {
      const { merchantId, merchantCurrency } = caller;
      const input = {
        merchantId,
        merchantCurrency,
        ...(by && { by }),
        idempotencyKey,
        request: toPaymentRequest(body),
        requestId,
        isAcceptingWork: deps.isAcceptingWork(merchantId),
        at: new Date(),
      };
      const accepted = cachedKey && (await acceptCached(accept, input, caller, cachedKey));
      const created =
        accepted ??
        (await createPayout(deps.payments, { ...input, ...makerOf(await (cachedKey?.verify() ?? caller)) }));
      if (created.kind === 'created') deps.offer({ kind: 'payout', ...created.payout });
      return { stored: created };
    },
  });
}

type PayoutOfCaller = Omit<CreatePayout, 'createdBy' | 'apiKeyId'>;

/** In one statement, where all that decides was verified before. Null: nothing is recorded, and the key must be verified. */
async function acceptCached(
  accept: ReturnType<typeof createPayoutAcceptance>,
  input: PayoutOfCaller,
  { actor }: Caller,
  { version: keyVersion, maker: createdBy }: CachedKey,
): Promise<CreatedPayout | null> {
  if (actor.kind !== 'key' || createdBy === null) return null;
  return accept({ ...input, createdBy, apiKeyId: actor.keyId, keyVersion });
}

/** The person who counts as the maker of a payout, and the key that it is created with, if any. */
function makerOf({ actor }: Caller): { createdBy: UserId; apiKeyId: ApiKeyId | null } {
  if (actor.kind === 'person') return { createdBy: actor.person.userId, apiKeyId: null };
  // A key whose maker has left does not have the scope, so it is refused before.
  if (actor.maker === null) throw new Error('a payout was requested with a key that has no creator');
  return { createdBy: actor.maker, apiKeyId: actor.keyId };
}

function listRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'get',
    path: PATH,
    operationId: 'listPayouts',
    tag: TAG,
    summary: 'List payouts, newest first',
    access: { scope: 'payouts:read' },
    query: listPayoutsSchema,
    response: { status: 200, description: 'One page.', schema: payoutListSchema },
    handle: async ({ merchantId, query }) => {
      const states = wantedStates(query, statesOfApproval);
      const filter = { ...paymentFilter(query), ...(states && { states }) };
      return { body: pageObject(await listPayouts(deps.db, merchantId, filter, query.limit), payoutObject) };
    },
  });
}

function fetchRoute(deps: PaymentDeps): Route {
  return route(deps, {
    method: 'get',
    path: `${PATH}/{id}`,
    operationId: 'getPayout',
    tag: TAG,
    summary: 'Fetch one payout with its approval state',
    access: { scope: 'payouts:read' },
    idPrefix: 'pay',
    response: { status: 200, description: 'The payout.', schema: payoutSchema },
    errors: ['payout_not_found'],
    handle: async ({ merchantId, id }) => ({ body: payoutObject(await getPayout(deps.db, merchantId, id)) }),
  });
}

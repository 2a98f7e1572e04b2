// Payouts: create, list, fetch. Who releases them is the console's business.
import { payoutObject, statesOfApproval, type PayoutState } from '../../../domain/payments/payout.ts';
import { getPayout } from '../../../queries/payments/payout.ts';
import { listPayouts } from '../../../queries/payments/payout.ts';
import { callerOf, auditOf, makerOf, idempotencyKeyOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { readIntegers } from '../../form.ts';
import { sendStoredResponse } from '../../stored-response.ts';
import { requireScope } from '../../middleware/api-key.ts';
import { isForm, readBody } from '../../middleware/body.ts';
import { requireIdempotencyKey } from '../../middleware/idempotency-key.ts';
import { requireSessionStill } from '../../middleware/session.ts';
import {
  AUTHENTICATION_ERRORS,
  CREATE_PAYMENT_ERRORS,
  createRequestBody,
  errorResponses,
  STORED_RESPONSE_HEADERS,
  REQUEST_ID_HEADER,
  type Route,
} from '../../route.ts';
import {
  CREATE_PAYMENT_CODES,
  LIST_CODES,
  listBody,
  paymentFilter,
  toPaymentRequest,
} from '../../schemas/payments/collection.ts';
import {
  createPayoutSchema,
  listPayoutsSchema,
  payoutListSchema,
  payoutSchema,
} from '../../schemas/payments/payout.ts';
import { idempotencyKeyHeader, noParameters, pathId } from '../../schemas/primitives.ts';
import { validate } from '../../validation.ts';

const TAG = 'Payouts';

export function payoutRoutes(deps: ApiDeps): Route[] {
  return [createRoute(deps), listRoute(deps), fetchRoute(deps)];
}

function createRoute(deps: ApiDeps): Route {
  return {
    method: 'post',
    path: '/v1/api/payouts',
    operation: {
      operationId: 'createPayout',
      tags: [TAG],
      summary: 'Create a payout, queued for release by a second person',
      description:
        'Scope `payouts:write`. The amount is held at once; nothing is sent until another person than its maker ' +
        'releases it in the console. With too little available the answer is 402, and is kept like any other.',
      requestParams: { header: idempotencyKeyHeader },
      requestBody: createRequestBody(createPayoutSchema),
      responses: {
        '202': {
          description: 'Held and queued.',
          headers: STORED_RESPONSE_HEADERS,
          content: { 'application/json': { schema: payoutSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, ...CREATE_PAYMENT_ERRORS, 'balance_insufficient']),
      },
    },
    pipeline: [
      requireScope('payouts:write', deps),
      requireIdempotencyKey(),
      readBody(),
      requireSessionStill(deps, ['maker']),
      create(deps),
    ],
  };
}

function create(deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    validate(noParameters, { ...ctx.query });
    const fields = isForm(ctx) ? readIntegers(ctx.request.body, ['amount']) : ctx.request.body;
    const request = toPaymentRequest(validate(createPayoutSchema, fields, CREATE_PAYMENT_CODES));
    const { merchantId, merchantCurrency, actor } = callerOf(ctx);
    const created = await deps.payments.createPayout({
      merchantId,
      merchantCurrency,
      ...makerOf(ctx),
      ...(actor.kind === 'person' && { by: auditOf(ctx) }),
      idempotencyKey: idempotencyKeyOf(ctx),
      request,
      requestId: ctx.state.requestId,
      isAcceptingWork: deps.isAcceptingWork(),
      at: new Date(),
    });
    if (created.kind === 'created') deps.offer({ kind: 'payout', ...created.payout });
    sendStoredResponse(ctx, created);
  };
}

function listRoute(deps: ApiDeps): Route {
  return {
    method: 'get',
    path: '/v1/api/payouts',
    operation: {
      operationId: 'listPayouts',
      tags: [TAG],
      summary: 'List payouts, newest first',
      description: 'Scope `payouts:read`.',
      requestParams: { query: listPayoutsSchema },
      responses: {
        '200': {
          description: 'One page.',
          headers: REQUEST_ID_HEADER,
          content: { 'application/json': { schema: payoutListSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, 'parameter_invalid', 'parameter_unknown', 'cursor_invalid']),
      },
    },
    pipeline: [
      requireScope('payouts:read', deps),
      async (ctx) => {
        const query = validate(listPayoutsSchema, { ...ctx.query }, LIST_CODES);
        const states = wantedStates(query);
        const filter = { ...paymentFilter(query), ...(states && { states }) };
        const page = await listPayouts(deps.db, callerOf(ctx).merchantId, filter, query.limit);
        ctx.body = listBody(page.items.map(payoutObject), page.nextBefore);
      },
    ],
  };
}

type StateFilters = Pick<ReturnType<typeof listPayoutsSchema.parse>, 'state' | 'approval_state'>;

// Both filters are over the one state that is recorded. Null: any.
function wantedStates({ state, approval_state: approval }: StateFilters): PayoutState[] | null {
  const ofApproval = approval === undefined ? null : statesOfApproval(approval);
  if (state === undefined) return ofApproval;
  return ofApproval === null || ofApproval.includes(state) ? [state] : [];
}

function fetchRoute(deps: ApiDeps): Route {
  return {
    method: 'get',
    path: '/v1/api/payouts/{id}',
    operation: {
      operationId: 'getPayout',
      tags: [TAG],
      summary: 'Fetch one payout with its approval state',
      description: 'Scope `payouts:read`.',
      requestParams: { path: pathId('pay') },
      responses: {
        '200': {
          description: 'The payout.',
          headers: REQUEST_ID_HEADER,
          content: { 'application/json': { schema: payoutSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, 'parameter_unknown', 'payout_not_found']),
      },
    },
    pipeline: [
      requireScope('payouts:read', deps),
      async (ctx) => {
        validate(noParameters, { ...ctx.query });
        const { id = '' } = ctx['params'] as { id?: string };
        ctx.body = payoutObject(await getPayout(deps.db, callerOf(ctx).merchantId, id));
      },
    ],
  };
}

// Collections: create, list, fetch.
import { collectionObject } from '../../../domain/payments/collection.ts';
import { DomainError } from '../../../domain/errors.ts';
import { getCollection } from '../../../queries/payments/collection.ts';
import { listCollections } from '../../../queries/payments/collection.ts';
import { auditOf, callerOf, idempotencyKeyOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { requireScope } from '../../middleware/api-key.ts';
import { isForm, readBody } from '../../middleware/body.ts';
import { requireIdempotencyKey } from '../../middleware/idempotency-key.ts';
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
  collectionListSchema,
  collectionSchema,
  CREATE_PAYMENT_CODES,
  createCollectionSchema,
  LIST_CODES,
  listCollectionsSchema,
  toPaymentRequest,
  listBody,
  paymentFilter,
} from '../../schemas/payments/collection.ts';
import { idempotencyKeyHeader, noParameters, pathId } from '../../schemas/primitives.ts';
import { readIntegers } from '../../form.ts';
import { sendStoredResponse } from '../../stored-response.ts';
import { validate } from '../../validation.ts';

const TAG = 'Collections';

export function collectionRoutes(deps: ApiDeps): Route[] {
  return [createRoute(deps), listRoute(deps), fetchRoute(deps)];
}

function createRoute(deps: ApiDeps): Route {
  return {
    method: 'post',
    path: '/v1/api/collections',
    operation: {
      operationId: 'createCollection',
      tags: [TAG],
      summary: 'Raise a prompt on a payer’s handset',
      description: 'Scope `collections:write`. 202 means accepted, not paid: the outcome comes as a webhook.',
      requestParams: { header: idempotencyKeyHeader },
      requestBody: createRequestBody(createCollectionSchema),
      responses: {
        '202': {
          description: 'Accepted and recorded.',
          headers: STORED_RESPONSE_HEADERS,
          content: { 'application/json': { schema: collectionSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, ...CREATE_PAYMENT_ERRORS]),
      },
    },
    pipeline: [requireScope('collections:write', deps), requireIdempotencyKey(), readBody(), create(deps)],
  };
}

function create(deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    validate(noParameters, { ...ctx.query });
    const fields = isForm(ctx) ? readIntegers(ctx.request.body, ['amount']) : ctx.request.body;
    const request = toPaymentRequest(validate(createCollectionSchema, fields, CREATE_PAYMENT_CODES));
    const { merchantId, merchantCurrency, actor } = callerOf(ctx);
    const created = await deps.payments.createCollection({
      merchantId,
      merchantCurrency,
      ...(actor.kind === 'person' && { by: auditOf(ctx) }),
      idempotencyKey: idempotencyKeyOf(ctx),
      request,
      isAcceptingWork: deps.isAcceptingWork(),
      at: new Date(),
    });
    if (created.kind === 'created') deps.offer({ kind: 'collection', ...created.collection });
    sendStoredResponse(ctx, created);
  };
}

function listRoute(deps: ApiDeps): Route {
  return {
    method: 'get',
    path: '/v1/api/collections',
    operation: {
      operationId: 'listCollections',
      tags: [TAG],
      summary: 'List collections, newest first',
      description: 'Scope `collections:read`.',
      requestParams: { query: listCollectionsSchema },
      responses: {
        '200': {
          description: 'One page.',
          headers: REQUEST_ID_HEADER,
          content: { 'application/json': { schema: collectionListSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, 'parameter_invalid', 'parameter_unknown', 'cursor_invalid']),
      },
    },
    pipeline: [requireScope('collections:read', deps), list(deps)],
  };
}

function list(deps: ApiDeps): ApiMiddleware {
  return async (ctx) => {
    const query = validate(listCollectionsSchema, { ...ctx.query }, LIST_CODES);
    const filter = { ...paymentFilter(query), ...(query.state !== undefined && { states: [query.state] }) };
    const page = await listCollections(deps.db, callerOf(ctx).merchantId, filter, query.limit);
    ctx.body = listBody(page.items.map(collectionObject), page.nextBefore);
  };
}

function fetchRoute(deps: ApiDeps): Route {
  return {
    method: 'get',
    path: '/v1/api/collections/{id}',
    operation: {
      operationId: 'getCollection',
      tags: [TAG],
      summary: 'Fetch one collection with its current state',
      description: 'Scope `collections:read`.',
      requestParams: { path: pathId('col') },
      responses: {
        '200': {
          description: 'The collection.',
          headers: REQUEST_ID_HEADER,
          content: { 'application/json': { schema: collectionSchema } },
        },
        ...errorResponses([...AUTHENTICATION_ERRORS, 'parameter_unknown', 'collection_not_found']),
      },
    },
    pipeline: [
      requireScope('collections:read', deps),
      async (ctx) => {
        validate(noParameters, { ...ctx.query });
        const { id } = ctx['params'] as { id?: string };
        if (id === undefined) throw new DomainError('route_not_found', 'There is no such route.');
        ctx.body = collectionObject(await getCollection(deps.db, callerOf(ctx).merchantId, id));
      },
    ],
  };
}

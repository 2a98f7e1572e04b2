// Webhook endpoints in the console: register, list, change, delete, rotate the secret, test.
import { endpointObject, type Endpoint, type EndpointSettings } from '../../../domain/webhooks/endpoint.ts';
import { changeEndpoint } from '../../../operations/webhooks/change-endpoint.ts';
import { deleteEndpoint } from '../../../operations/webhooks/delete-endpoint.ts';
import { getEndpoint } from '../../../queries/webhooks/endpoint.ts';
import { listEndpoints } from '../../../queries/webhooks/endpoint.ts';
import { registerEndpoint } from '../../../operations/webhooks/register-endpoint.ts';
import { rotateEndpointSecret } from '../../../operations/webhooks/rotate-endpoint-secret.ts';
import { sendTestEvent } from '../../../operations/webhooks/send-test-event.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../../context.ts';
import { readIntegers, readLists, readNulls } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import {
  ENDPOINT_LISTS,
  ENDPOINT_NULLS,
  endpointListSchema,
  endpointSchema,
  endpointSettingsSchemas,
  endpointWithSecretSchema,
  listEndpointsSchema,
  rotateEndpointSecretSchema,
  sentTestEventSchema,
} from '../../schemas/webhooks/endpoint.ts';
import { PAGE_CODES, pageObject } from '../../schemas/page.ts';
import { validate } from '../../validation.ts';

const TAG = 'webhooks';
const PATH = '/v1/console/endpoints';
const ROLES = ['admin', 'developer'] as const;

export function endpointRoutes(deps: ApiDeps): Route[] {
  return [
    listRoute(deps),
    createRoute(deps),
    fetchRoute(deps),
    changeRoute(deps),
    deleteRoute(deps),
    rotateRoute(deps),
    testRoute(deps),
  ];
}

function shownNow(deps: ApiDeps, endpoint: Endpoint) {
  return endpointObject(endpoint, { at: new Date(), failingLimitMs: deps.endpointFailingLimitMs });
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listEndpoints',
      tag: TAG,
      summary: 'List endpoints, newest first',
      description: 'Those disabled too. Their secrets cannot be seen again.',
      query: listEndpointsSchema,
      answer: { status: 200, description: 'One page.', schema: endpointListSchema },
      errors: ['parameter_invalid', 'cursor_invalid'],
    },
    async (ctx) => {
      const { limit, cursor } = validate(listEndpointsSchema, { ...ctx.query }, PAGE_CODES);
      const page = await listEndpoints(deps.db, sessionOf(ctx).person.merchantId, cursor ?? null, limit);
      ctx.body = pageObject(page, (endpoint) => shownNow(deps, endpoint));
    },
  );
}

function createRoute(deps: ApiDeps): Route {
  const { create: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: PATH,
      operationId: 'createEndpoint',
      tag: TAG,
      summary: 'Register an endpoint',
      description: 'Every event from now on goes to it, of the types that it chose.',
      roles: ROLES,
      body: schema,
      answer: {
        status: 201,
        description: 'The endpoint, its secret shown this once.',
        schema: endpointWithSecretSchema,
      },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const { url, description, event_types: eventTypes } = validate(schema, fieldsOf(ctx.request.body, isForm(ctx)));
      const { secret, ...endpoint } = await registerEndpoint(deps.db, {
        merchantId: sessionOf(ctx).person.merchantId,
        url,
        description: description ?? null,
        eventTypes: eventTypes ?? null,
        keyRing: deps.keyRing,
        by: auditOf(ctx),
        at: new Date(),
      });
      ctx.status = 201;
      ctx.body = { ...shownNow(deps, endpoint), secret };
    },
  );
}

function fetchRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getEndpoint',
      tag: TAG,
      summary: 'Fetch one endpoint',
      id: 'whe',
      answer: { status: 200, description: 'The endpoint.', schema: endpointSchema },
      errors: ['endpoint_not_found'],
    },
    async (ctx) => {
      ctx.body = shownNow(deps, await getEndpoint(deps.db, sessionOf(ctx).person.merchantId, idOf(ctx)));
    },
  );
}

function changeRoute(deps: ApiDeps): Route {
  const { change: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return consoleRoute(
    deps,
    {
      method: 'patch',
      path: `${PATH}/{id}`,
      operationId: 'changeEndpoint',
      tag: TAG,
      summary: 'Change an endpoint, disable or enable it',
      description:
        'What is not named stays as it is. What is owed to a disabled endpoint, and what happens meanwhile, is withheld; ' +
        'after enabling it, a replay sends it. In a form an empty field is null.',
      roles: ROLES,
      id: 'whe',
      body: schema,
      answer: { status: 200, description: 'The endpoint as it now is.', schema: endpointSchema },
      errors: ['endpoint_not_found'],
    },
    async (ctx) => {
      const body = validate(schema, fieldsOf(ctx.request.body, isForm(ctx)));
      const changes: Partial<EndpointSettings> = {
        ...(body.url !== undefined && { url: body.url }),
        ...(body.description !== undefined && { description: body.description }),
        ...(body.event_types !== undefined && { eventTypes: body.event_types }),
        ...(body.state !== undefined && { state: body.state }),
      };
      const input = { id: idOf(ctx), changes, by: auditOf(ctx), at: new Date() };
      ctx.body = shownNow(deps, await changeEndpoint(deps.db, input));
    },
  );
}

function deleteRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: `${PATH}/{id}`,
      operationId: 'deleteEndpoint',
      tag: TAG,
      summary: 'Delete an endpoint',
      description: 'Nothing more is sent to it, and its secrets are erased. Its deliveries stay to be seen.',
      roles: ROLES,
      id: 'whe',
      answer: { status: 204, description: 'It is gone.' },
      errors: ['endpoint_not_found'],
    },
    async (ctx) => {
      const { merchantId } = sessionOf(ctx).person;
      await deleteEndpoint(deps.db, { merchantId, id: idOf(ctx), by: auditOf(ctx), at: new Date() });
      ctx.status = 204;
    },
  );
}

function rotateRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/rotate`,
      operationId: 'rotateEndpointSecret',
      tag: TAG,
      summary: 'Put a new signing secret in the place of the present one',
      description:
        'The new secret signs at once. With `keep_previous_for` the present one signs too for that long: the header then ' +
        'has two `v1` pairs, the new one first. A secret that was kept by an earlier rotation ends now.',
      roles: ROLES,
      id: 'whe',
      body: rotateEndpointSecretSchema,
      answer: { status: 200, description: 'The new secret, shown this once.', schema: endpointWithSecretSchema },
      errors: ['endpoint_not_found'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readIntegers(ctx.request.body, ['keep_previous_for']) : ctx.request.body;
      const { keep_previous_for: seconds } = validate(rotateEndpointSecretSchema, fields);
      const { secret, ...endpoint } = await rotateEndpointSecret(deps.db, {
        id: idOf(ctx),
        keepPreviousForMs: seconds * 1000,
        keyRing: deps.keyRing,
        by: auditOf(ctx),
        at: new Date(),
      });
      ctx.body = { ...shownNow(deps, endpoint), secret };
    },
  );
}

function testRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/test`,
      operationId: 'testEndpoint',
      tag: TAG,
      summary: 'Send a test event to an endpoint',
      description: 'An `endpoint.test` event goes to this endpoint alone, whatever types it chose.',
      roles: ROLES,
      id: 'whe',
      answer: { status: 202, description: 'It is on its way: see the delivery.', schema: sentTestEventSchema },
      errors: ['endpoint_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const { eventId, deliveryId } = await sendTestEvent(deps.db, {
        id: idOf(ctx),
        environment: deps.environment,
        failingLimitMs: deps.endpointFailingLimitMs,
        by: auditOf(ctx),
        at: new Date(),
      });
      ctx.status = 202;
      ctx.body = { event_id: eventId, delivery_id: deliveryId };
    },
  );
}

function fieldsOf(body: unknown, isFromForm: boolean): unknown {
  return isFromForm ? readLists(readNulls(body, ENDPOINT_NULLS), ENDPOINT_LISTS) : body;
}

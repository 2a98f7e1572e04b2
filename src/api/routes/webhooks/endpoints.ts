// Webhook endpoints in the console: register, list, change, delete, rotate the secret, test.
import { endpointObject, type Endpoint } from '../../../domain/webhooks/endpoint.ts';
import { changeEndpoint } from '../../../operations/webhooks/change-endpoint.ts';
import { deleteEndpoint } from '../../../operations/webhooks/delete-endpoint.ts';
import { getEndpoint, listEndpoints } from '../../../queries/webhooks/endpoint.ts';
import { registerEndpoint } from '../../../operations/webhooks/register-endpoint.ts';
import { rotateEndpointSecret } from '../../../operations/webhooks/rotate-endpoint-secret.ts';
import { sendTestEvent } from '../../../operations/webhooks/send-test-event.ts';
import type { ApiDeps } from '../../context.ts';
import { route, type Route } from '../../route.ts';
import {
  endpointListSchema,
  endpointSchema,
  endpointSettingsSchemas,
  endpointWithSecretSchema,
  listEndpointsSchema,
  rotateEndpointSecretSchema,
  sentTestEventSchema,
} from '../../schemas/webhooks/endpoint.ts';
import { pageObject } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const TAG = 'Console webhooks';
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
  return route(deps, {
    method: 'get',
    path: PATH,
    operationId: 'listEndpoints',
    tag: TAG,
    summary: 'List endpoints, newest first',
    description: 'Those disabled too. Their secrets cannot be seen again.',
    access: 'session',
    query: listEndpointsSchema,
    response: { status: 200, description: 'One page.', schema: endpointListSchema },
    handle: async ({ merchantId, query: { limit, cursor = null } }) => {
      const page = await listEndpoints(deps.db, merchantId, cursor, limit);
      return { body: pageObject(page, (endpoint) => shownNow(deps, endpoint)) };
    },
  });
}

function createRoute(deps: ApiDeps): Route {
  const { create: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return route(deps, {
    method: 'post',
    path: PATH,
    operationId: 'createEndpoint',
    tag: TAG,
    summary: 'Register an endpoint',
    description: 'Every event from now on goes to it, of the types that it chose.',
    access: { roles: ROLES },
    needsStepUp: true,
    body: schema,
    response: {
      status: 201,
      description: 'The endpoint, its secret shown this once.',
      schema: endpointWithSecretSchema,
    },
    errors: ['state_conflict'],
    handle: async ({ merchantId, body: { url, description, event_types: eventTypes }, by }) => {
      const { secret, ...endpoint } = await registerEndpoint(deps.db, {
        merchantId,
        url,
        description: description ?? null,
        eventTypes: eventTypes ?? null,
        keyRing: deps.keyRing,
        by,
        at: new Date(),
      });
      return { body: { ...shownNow(deps, endpoint), secret } };
    },
  });
}

function fetchRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'get',
    path: `${PATH}/{id}`,
    operationId: 'getEndpoint',
    tag: TAG,
    summary: 'Fetch one endpoint',
    access: 'session',
    idPrefix: 'whe',
    response: { status: 200, description: 'The endpoint.', schema: endpointSchema },
    errors: ['endpoint_not_found'],
    handle: async ({ merchantId, id }) => ({ body: shownNow(deps, await getEndpoint(deps.db, merchantId, id)) }),
  });
}

function changeRoute(deps: ApiDeps): Route {
  const { change: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return route(deps, {
    method: 'patch',
    path: `${PATH}/{id}`,
    operationId: 'changeEndpoint',
    tag: TAG,
    summary: 'Change an endpoint, disable or enable it',
    description:
      'What is not named stays as it is. What is owed to a disabled endpoint, and what happens meanwhile, is withheld; ' +
      'after enabling it, a replay sends it. In a form an empty field is null.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'whe',
    body: schema,
    response: { status: 200, description: 'The endpoint as it now is.', schema: endpointSchema },
    errors: ['endpoint_not_found'],
    handle: async ({ id, body: { url, description, event_types: eventTypes, state }, by }) => {
      const changes = definedFields({ url, description, eventTypes, state });
      return { body: shownNow(deps, await changeEndpoint(deps.db, { id, changes, by, at: new Date() })) };
    },
  });
}

function deleteRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'delete',
    path: `${PATH}/{id}`,
    operationId: 'deleteEndpoint',
    tag: TAG,
    summary: 'Delete an endpoint',
    description: 'Nothing more is sent to it, and its secrets are erased. Its deliveries stay to be seen.',
    access: { roles: ROLES },
    idPrefix: 'whe',
    response: { status: 204, description: 'It is gone.' },
    errors: ['endpoint_not_found'],
    handle: async ({ merchantId, id, by }) => {
      await deleteEndpoint(deps.db, { merchantId, id, by, at: new Date() });
      return { status: 204 };
    },
  });
}

function rotateRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: `${PATH}/{id}/rotate`,
    operationId: 'rotateEndpointSecret',
    tag: TAG,
    summary: 'Put a new signing secret in the place of the present one',
    description:
      'The new secret signs at once. With `keep_previous_for` the present one signs too for that long: the header then ' +
      'has two `v1` pairs, the new one first. A secret that was kept by an earlier rotation ends now.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'whe',
    body: rotateEndpointSecretSchema,
    response: { status: 200, description: 'The new secret, shown this once.', schema: endpointWithSecretSchema },
    errors: ['endpoint_not_found'],
    handle: async ({ id, body, by }) => {
      const { secret, ...endpoint } = await rotateEndpointSecret(deps.db, {
        id,
        keepPreviousForMs: body.keep_previous_for * 1000,
        keyRing: deps.keyRing,
        by,
        at: new Date(),
      });
      return { body: { ...shownNow(deps, endpoint), secret } };
    },
  });
}

function testRoute(deps: ApiDeps): Route {
  return route(deps, {
    method: 'post',
    path: `${PATH}/{id}/test`,
    operationId: 'testEndpoint',
    tag: TAG,
    summary: 'Send a test event to an endpoint',
    description: 'An `endpoint.test` event goes to this endpoint alone, whatever types it chose.',
    access: { roles: ROLES },
    idPrefix: 'whe',
    response: { status: 202, description: 'It is on its way: see the delivery.', schema: sentTestEventSchema },
    errors: ['endpoint_not_found', 'state_conflict'],
    handle: async ({ id, by }) => {
      const { eventId, deliveryId } = await sendTestEvent(deps.db, {
        id,
        environment: deps.environment,
        failingLimitMs: deps.endpointFailingLimitMs,
        by,
        at: new Date(),
      });
      return { body: { event_id: eventId, delivery_id: deliveryId } };
    },
  });
}

// Webhook endpoints in the console: register, list, change, delete, rotate the secret, test.
import { endpointObject, type Endpoint } from '../../../domain/webhooks/endpoint.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  rotateEndpointSecret,
  sendTestEvent,
} from '../../../operations/webhooks/change-endpoint.ts';
import { getEndpoint, listEndpoints } from '../../../db/webhooks/endpoint.ts';
import { registerEndpoint } from '../../../operations/webhooks/register-endpoint.ts';
import type { KeyRing } from '../../../security/sealing.ts';
import { route, routesUnder, type Route, type RoutePlace, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import {
  endpointListSchema,
  endpointSchema,
  endpointSettingsSchemas,
  endpointWithSecretSchema,
  listEndpointsSchema,
  rotateEndpointSecretSchema,
  sentTestEventSchema,
} from '../../schemas/webhooks/endpoint.ts';
import { onePage, pageObject } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const ROLES = ['admin', 'developer'] as const;

export type EndpointDeps = RouteDeps & {
  /** The reason why nothing may be sent to this address; null if sending is allowed. */
  readonly refuseUrl: (url: string) => string | null;
  /** An endpoint is disabled after all attempts to it failed for this long. */
  readonly endpointFailingLimitMs: number;
  readonly keyRing: KeyRing;
};

export const endpointRoutes = routesUnder<EndpointDeps>('Console webhooks', '/v1/console/endpoints', [
  route('GET', {
    operationId: 'listEndpoints',
    summary: 'List endpoints, newest first',
    description: 'Includes disabled endpoints. No response shows a secret again.',
    access: 'session',
    ...onePage(listEndpointsSchema, endpointListSchema),
    handle: async ({ merchantId, query: { limit, cursor = null } }, deps) => {
      const page = await listEndpoints(deps.db, merchantId, cursor, limit);
      return { body: pageObject(page, (endpoint) => shownNow(deps, endpoint)) };
    },
  }),
  createRoute,
  route('GET /{id}', {
    operationId: 'getEndpoint',
    summary: 'Fetch one endpoint',
    access: 'session',
    ...oneObject('whe', 'The endpoint.', endpointSchema),
    handle: async ({ merchantId, id }, deps) => ({ body: shownNow(deps, await getEndpoint(deps.db, merchantId, id)) }),
  }),
  changeRoute,
  route('DELETE /{id}', {
    operationId: 'deleteEndpoint',
    summary: 'Delete an endpoint',
    description: 'Nothing more is sent to the endpoint, and its secrets are erased. Its deliveries stay visible.',
    access: { roles: ROLES },
    idPrefix: 'whe',
    response: { status: 204, description: 'The endpoint is deleted.' },
    handle: ({ merchantId, id, by }, deps) => deleteEndpoint(deps.db, { merchantId, id, by, at: new Date() }),
  }),
  route('POST /{id}/rotate', {
    operationId: 'rotateEndpointSecret',
    summary: 'Replace the signing secret with a new one',
    description:
      'The new secret signs at once. With `keep_previous_for`, the previous secret also signs for that long: the ' +
      'header then has two `v1` pairs, that of the new secret first. A secret that an earlier rotation kept stops ' +
      'signing now.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'whe',
    body: rotateEndpointSecretSchema,
    response: { status: 200, description: 'The new secret, shown only this once.', schema: endpointWithSecretSchema },
    handle: async ({ id, body, by }, deps) => {
      const { secret, ...endpoint } = await rotateEndpointSecret(deps.db, {
        id,
        keepPreviousForMs: body.keep_previous_for * 1000,
        keyRing: deps.keyRing,
        by,
        at: new Date(),
      });
      return { body: { ...shownNow(deps, endpoint), secret } };
    },
  }),
  route('POST /{id}/test', {
    operationId: 'testEndpoint',
    summary: 'Send a test event to an endpoint',
    description: 'An `endpoint.test` event goes to this endpoint alone, whatever types it chose.',
    access: { roles: ROLES },
    idPrefix: 'whe',
    response: { status: 202, description: 'The event is on its way: see the delivery.', schema: sentTestEventSchema },
    errors: ['state_conflict'],
    handle: async ({ id, by }, deps) => {
      const { eventId, deliveryId } = await sendTestEvent(deps.db, {
        id,
        environment: deps.environment,
        failingLimitMs: deps.endpointFailingLimitMs,
        by,
        at: new Date(),
      });
      return { body: { event_id: eventId, delivery_id: deliveryId } };
    },
  }),
]);

function shownNow(deps: EndpointDeps, endpoint: Endpoint) {
  return endpointObject(endpoint, { at: new Date(), failingLimitMs: deps.endpointFailingLimitMs });
}

function createRoute(deps: EndpointDeps, place: RoutePlace): Route {
  const { create: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return route('POST', {
    operationId: 'createEndpoint',
    summary: 'Register an endpoint',
    description: 'The endpoint receives every later event of the types that it chose.',
    access: { roles: ROLES },
    needsStepUp: true,
    body: schema,
    response: {
      status: 201,
      description: 'The endpoint. Its secret is shown only this once.',
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
  })(deps, place);
}

function changeRoute(deps: EndpointDeps, place: RoutePlace): Route {
  const { change: schema } = endpointSettingsSchemas((url) => deps.refuseUrl(url));
  return route('PATCH /{id}', {
    operationId: 'changeEndpoint',
    summary: 'Change an endpoint, disable or enable it',
    description:
      'Omitted fields stay unchanged. The pending and new deliveries to a disabled endpoint are withheld. After the ' +
      'endpoint is enabled, a replay sends them. In a form an empty field is null.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'whe',
    body: schema,
    response: { status: 200, description: 'The endpoint after the change.', schema: endpointSchema },
    handle: async ({ id, body: { url, description, event_types: eventTypes, state }, by }) => {
      const changes = definedFields({ url, description, eventTypes, state });
      return { body: shownNow(deps, await changeEndpoint(deps.db, { id, changes, by, at: new Date() })) };
    },
  })(deps, place);
}

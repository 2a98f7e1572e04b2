// Events in the console, with exactly the bytes that are sent to merchants.
import { getEvent } from '../../../operations/webhooks/read-deliveries.ts';
import { listEvents } from '../../../db/webhooks/event.ts';
import { route, type Route, type RouteDeps } from '../../route.ts';
import { deliveryObject } from '../../schemas/webhooks/delivery.ts';
import {
  eventListSchema,
  eventObject,
  eventWithDeliveriesSchema,
  listEventsSchema,
} from '../../schemas/webhooks/event.ts';
import { pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const TAG = 'Console webhooks';
const PATH = '/v1/console/events';

export function eventRoutes(deps: RouteDeps): Route[] {
  return [listRoute(deps), fetchRoute(deps)];
}

function listRoute(deps: RouteDeps): Route {
  return route(deps, TAG, `GET ${PATH}`, {
    operationId: 'listEvents',
    summary: 'List events, newest first',
    access: 'session',
    query: listEventsSchema,
    response: { status: 200, description: 'One page.', schema: eventListSchema },
    handle: async ({ merchantId, query }) => {
      const filter = { ...rangeOf(query), ...definedFields({ type: query.type, objectId: query.object_id }) };
      return { body: pageObject(await listEvents(deps.db, merchantId, filter, query.limit), eventObject) };
    },
  });
}

function fetchRoute(deps: RouteDeps): Route {
  return route(deps, TAG, `GET ${PATH}/{id}`, {
    operationId: 'getEvent',
    summary: 'Fetch one event with its body and its deliveries',
    access: 'session',
    idPrefix: 'evt',
    response: { status: 200, description: 'The event.', schema: eventWithDeliveriesSchema },
    errors: ['event_not_found'],
    handle: async ({ merchantId, id }) => {
      const { body, deliveries, ...event } = await getEvent(deps.db, merchantId, id);
      return { body: { ...eventObject(event), body, deliveries: deliveries.map(deliveryObject) } };
    },
  });
}

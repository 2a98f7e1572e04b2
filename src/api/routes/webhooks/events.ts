// Events in the console, with exactly the bytes that merchants receive.
import { getEvent } from '../../../operations/webhooks/read-deliveries.ts';
import { listEvents } from '../../../db/webhooks/event.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import { deliveryObject } from '../../schemas/webhooks/delivery.ts';
import {
  eventListSchema,
  eventObject,
  eventWithDeliveriesSchema,
  listEventsSchema,
} from '../../schemas/webhooks/event.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

export const eventRoutes = routesUnder<RouteDeps>('Console webhooks', '/v1/console/events', [
  route('GET', {
    operationId: 'listEvents',
    summary: 'List events, newest first',
    access: 'session',
    ...onePage(listEventsSchema, eventListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const filter = { ...rangeOf(query), ...definedFields({ type: query.type, objectId: query.object_id }) };
      return { body: pageObject(await listEvents(deps.db, merchantId, filter, query.limit), eventObject) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getEvent',
    summary: 'Fetch one event with its body and its deliveries',
    access: 'session',
    ...oneObject('evt', 'The event.', eventWithDeliveriesSchema),
    handle: async ({ merchantId, id }, deps) => {
      const { body, deliveries, ...event } = await getEvent(deps.db, merchantId, id);
      return { body: { ...eventObject(event), body, deliveries: deliveries.map(deliveryObject) } };
    },
  }),
]);

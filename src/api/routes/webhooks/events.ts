// Events in the console, with exactly the bytes that merchants receive.
import { getEvent } from '../../../operations/webhooks/read-deliveries.ts';
import { listEvents } from '../../../db/webhooks/event.ts';
import { routeUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
import { deliveryObject } from '../../schemas/webhooks/delivery.ts';
import {
  eventListSchema,
  eventObject,
  eventWithDeliveriesSchema,
  listEventsSchema,
} from '../../schemas/webhooks/event.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

const route = routeUnder<RouteDeps>('Console webhooks');
const PATH = '/v1/console/events';

export const eventRoutes: readonly UnboundRoute<RouteDeps>[] = [
  route(`GET ${PATH}`, {
    operationId: 'listEvents',
    summary: 'List events, newest first',
    access: 'session',
    ...onePage(listEventsSchema, eventListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const filter = { ...rangeOf(query), ...definedFields({ type: query.type, objectId: query.object_id }) };
      return { body: pageObject(await listEvents(deps.db, merchantId, filter, query.limit), eventObject) };
    },
  }),
  route(`GET ${PATH}/{id}`, {
    operationId: 'getEvent',
    summary: 'Fetch one event with its body and its deliveries',
    access: 'session',
    idPrefix: 'evt',
    response: { status: 200, description: 'The event.', schema: eventWithDeliveriesSchema },
    handle: async ({ merchantId, id }, deps) => {
      const { body, deliveries, ...event } = await getEvent(deps.db, merchantId, id);
      return { body: { ...eventObject(event), body, deliveries: deliveries.map(deliveryObject) } };
    },
  }),
];

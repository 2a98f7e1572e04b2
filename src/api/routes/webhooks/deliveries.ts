// Webhook deliveries in the console: list, fetch with every attempt, send again.
import { getDelivery } from '../../../operations/webhooks/read-deliveries.ts';
import { listDeliveries } from '../../../db/webhooks/delivery-list.ts';
import { replayDelivery } from '../../../operations/webhooks/replay-deliveries.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import {
  attemptObject,
  deliveryListSchema,
  deliveryObject,
  deliverySchema,
  deliveryWithAttemptsSchema,
  listDeliveriesSchema,
} from '../../schemas/webhooks/delivery.ts';
import { onePage, pageObject, rangeOf } from '../../schemas/page.ts';
import { definedFields } from '../../validation.ts';

export const deliveryRoutes = routesUnder<RouteDeps>('Console webhooks', '/v1/console/deliveries', [
  route('GET', {
    operationId: 'listDeliveries',
    summary: 'List deliveries, newest first',
    description: 'Includes deliveries to deleted endpoints.',
    access: 'session',
    ...onePage(listDeliveriesSchema, deliveryListSchema),
    handle: async ({ merchantId, query }, deps) => {
      const { limit, endpoint_id: endpointId, event_id: eventId, object_id: objectId, state } = query;
      const filter = { ...rangeOf(query), ...definedFields({ endpointId, eventId, objectId, state }) };
      return { body: pageObject(await listDeliveries(deps.db, merchantId, filter, limit), deliveryObject) };
    },
  }),
  route('GET /{id}', {
    operationId: 'getDelivery',
    summary: 'Fetch one delivery with its attempts',
    access: 'session',
    ...oneObject('dlv', 'The delivery.', deliveryWithAttemptsSchema),
    handle: async ({ merchantId, id }, deps) => {
      const delivery = await getDelivery(deps.db, merchantId, id);
      return { body: { ...deliveryObject(delivery), attempts: delivery.attempts.map(attemptObject) } };
    },
  }),
  route('POST /{id}/replay', {
    operationId: 'replayDelivery',
    summary: 'Send a delivery again',
    description:
      'Works in any state. The service sends the same event and bytes again, signed with the current secret, on the ' +
      'whole schedule. A `pending` delivery stays as it is.',
    access: { roles: ['admin', 'developer'] },
    idPrefix: 'dlv',
    response: { status: 202, description: 'The delivery is on its way.', schema: deliverySchema },
    errors: ['state_conflict'],
    handle: async ({ merchantId, id, by }, deps) => {
      await replayDelivery(deps.db, { id, by, at: new Date() });
      return { body: deliveryObject(await getDelivery(deps.db, merchantId, id)) };
    },
  }),
]);

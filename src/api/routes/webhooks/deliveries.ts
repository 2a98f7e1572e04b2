// Webhook deliveries in the console: list, fetch with every attempt, send again.
import { getDelivery } from '../../../operations/webhooks/read-deliveries.ts';
import { listDeliveries } from '../../../db/webhooks/delivery-list.ts';
import { replayDelivery } from '../../../operations/webhooks/replay-deliveries.ts';
import { routeUnder, type RouteDeps, type UnboundRoute } from '../../route.ts';
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

const route = routeUnder<RouteDeps>('Console webhooks');
const PATH = '/v1/console/deliveries';

export const deliveryRoutes: readonly UnboundRoute<RouteDeps>[] = [
  route(`GET ${PATH}`, {
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
  route(`GET ${PATH}/{id}`, {
    operationId: 'getDelivery',
    summary: 'Fetch one delivery with its attempts',
    access: 'session',
    idPrefix: 'dlv',
    response: { status: 200, description: 'The delivery.', schema: deliveryWithAttemptsSchema },
    handle: async ({ merchantId, id }, deps) => {
      const delivery = await getDelivery(deps.db, merchantId, id);
      return { body: { ...deliveryObject(delivery), attempts: delivery.attempts.map(attemptObject) } };
    },
  }),
  route(`POST ${PATH}/{id}/replay`, {
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
];

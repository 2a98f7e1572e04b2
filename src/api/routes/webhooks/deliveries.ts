// Webhook deliveries in the console: list, look at every attempt, send again.
import { getDelivery } from '../../../queries/webhooks/delivery.ts';
import { listDeliveries } from '../../../queries/webhooks/delivery.ts';
import { replayDelivery } from '../../../operations/webhooks/replay-delivery.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps } from '../../context.ts';
import type { Route } from '../../route.ts';
import {
  attemptObject,
  deliveryListSchema,
  deliveryObject,
  deliverySchema,
  deliveryWithAttemptsSchema,
  listDeliveriesSchema,
} from '../../schemas/webhooks/delivery.ts';
import { PAGE_CODES, pageObject, rangeOf } from '../../schemas/page.ts';
import { validate } from '../../validation.ts';

const TAG = 'webhooks';
const PATH = '/v1/console/deliveries';

export function deliveryRoutes(deps: ApiDeps): Route[] {
  return [listRoute(deps), fetchRoute(deps), replayRoute(deps)];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listDeliveries',
      tag: TAG,
      summary: 'List deliveries, newest first',
      description: 'Those to endpoints that are deleted too.',
      query: listDeliveriesSchema,
      answer: { status: 200, description: 'One page.', schema: deliveryListSchema },
      errors: ['parameter_invalid', 'cursor_invalid'],
    },
    async (ctx) => {
      const query = validate(listDeliveriesSchema, { ...ctx.query }, PAGE_CODES);
      const filter = {
        ...rangeOf(query),
        ...(query.endpoint_id !== undefined && { endpointId: query.endpoint_id }),
        ...(query.event_id !== undefined && { eventId: query.event_id }),
        ...(query.state !== undefined && { state: query.state }),
      };
      const page = await listDeliveries(deps.db, sessionOf(ctx).person.merchantId, filter, query.limit);
      ctx.body = pageObject(page, deliveryObject);
    },
  );
}

function fetchRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getDelivery',
      tag: TAG,
      summary: 'Fetch one delivery with its attempts',
      id: 'dlv',
      answer: { status: 200, description: 'The delivery.', schema: deliveryWithAttemptsSchema },
      errors: ['delivery_not_found'],
    },
    async (ctx) => {
      const delivery = await getDelivery(deps.db, sessionOf(ctx).person.merchantId, idOf(ctx));
      ctx.body = { ...deliveryObject(delivery), attempts: delivery.attempts.map(attemptObject) };
    },
  );
}

function replayRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/replay`,
      operationId: 'replayDelivery',
      tag: TAG,
      summary: 'Send a delivery again',
      description:
        'Whatever its state: the same event and bytes, signed with the present secret, and the whole schedule anew. One ' +
        'that is `pending` stays as it is.',
      roles: ['admin', 'developer'],
      id: 'dlv',
      answer: { status: 202, description: 'It is on its way.', schema: deliverySchema },
      errors: ['delivery_not_found', 'state_conflict'],
    },
    async (ctx) => {
      await replayDelivery(deps.db, { id: idOf(ctx), by: auditOf(ctx), at: new Date() });
      ctx.status = 202;
      ctx.body = deliveryObject(await getDelivery(deps.db, sessionOf(ctx).person.merchantId, idOf(ctx)));
    },
  );
}

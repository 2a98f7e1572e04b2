// Events in the console: what merchants are told, to the letter.
import { getEvent } from '../../../queries/webhooks/event.ts';
import { listEvents } from '../../../queries/webhooks/event.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { sessionOf, type ApiDeps } from '../../context.ts';
import type { Route } from '../../route.ts';
import { deliveryObject } from '../../schemas/webhooks/delivery.ts';
import {
  eventListSchema,
  eventObject,
  eventWithDeliveriesSchema,
  listEventsSchema,
} from '../../schemas/webhooks/event.ts';
import { PAGE_CODES, pageObject, rangeOf } from '../../schemas/page.ts';
import { validate } from '../../validation.ts';

const TAG = 'webhooks';
const PATH = '/v1/console/events';

export function eventRoutes(deps: ApiDeps): Route[] {
  return [listRoute(deps), fetchRoute(deps)];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listEvents',
      tag: TAG,
      summary: 'List events, newest first',
      query: listEventsSchema,
      answer: { status: 200, description: 'One page.', schema: eventListSchema },
      errors: ['parameter_invalid', 'cursor_invalid'],
    },
    async (ctx) => {
      const query = validate(listEventsSchema, { ...ctx.query }, PAGE_CODES);
      const filter = { ...rangeOf(query), ...(query.type !== undefined && { type: query.type }) };
      const page = await listEvents(deps.db, sessionOf(ctx).person.merchantId, filter, query.limit);
      ctx.body = pageObject(page, eventObject);
    },
  );
}

function fetchRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getEvent',
      tag: TAG,
      summary: 'Fetch one event with its body and its deliveries',
      id: 'evt',
      answer: { status: 200, description: 'The event.', schema: eventWithDeliveriesSchema },
      errors: ['event_not_found'],
    },
    async (ctx) => {
      const event = await getEvent(deps.db, sessionOf(ctx).person.merchantId, idOf(ctx));
      ctx.body = { ...eventObject(event), body: event.body, deliveries: event.deliveries.map(deliveryObject) };
    },
  );
}

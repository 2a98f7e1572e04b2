// Events on the wire.
import { z } from 'zod';
import type { ListedEvent } from '../../../domain/event.ts';
import { isId } from '../../../domain/ids.ts';
import { deliverySchema, eventType } from './delivery.ts';
import { objectFilter, pageQuery, pageSchema, timeFilters } from '../page.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const eventSchema = objectSchema('Event', {
  id: idOf('evt'),
  type: eventType,
  created_at: time,
  object_id: z
    .string()
    .regex(/^(?:col|pay|whe)_/)
    .meta({ description: 'The collection, payout or endpoint that the event reports.' }),
});

export const eventWithDeliveriesSchema = objectSchema('EventWithDeliveries', {
  ...eventSchema.shape,
  body: z.string().meta({ description: 'Exactly the text that is signed and sent.' }),
  deliveries: z.array(deliverySchema).meta({ description: 'One delivery for each endpoint that receives the event.' }),
});

export const eventListSchema = pageSchema(eventSchema, 'EventList');

export const listEventsSchema = z.strictObject({
  ...pageQuery((id) => isId('evt', id)).shape,
  type: eventType.optional(),
  object_id: objectFilter(['col', 'pay', 'whe'], (id) => isId('col', id) || isId('pay', id) || isId('whe', id)),
  ...timeFilters,
});

export function eventObject(event: ListedEvent) {
  return wireObject(eventSchema, event);
}

// Deliveries and their attempts on the wire.
import { z } from 'zod';
import {
  DELIVERY_STATES,
  isResponseTruncated,
  SHOWN_ATTEMPTS,
  type ListedDelivery,
  type RecordedAttempt,
} from '../../../domain/webhooks/delivery.ts';
import { EVENT_TYPES } from '../../../domain/event.ts';
import { isId } from '../../../domain/ids.ts';
import { idFilter, objectFilter, pageQuery, pageSchema, timeFilters } from '../page.ts';
import { idOf, objectSchema, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

export const eventType = z.enum(EVENT_TYPES).meta({ id: 'EventType' });
export const deliveryState = z.enum(DELIVERY_STATES).meta({ id: 'DeliveryState' });

export const deliverySchema = objectSchema('Delivery', {
  id: idOf('dlv'),
  event_id: idOf('evt'),
  event_type: eventType,
  endpoint_id: idOf('whe'),
  state: deliveryState.meta({
    description:
      '`pending`: will be sent now. `retrying`: failed, and will be sent again. `delivered`: accepted. ' +
      '`dead_lettered`: never accepted. `withheld`: the endpoint is disabled or deleted. A delivery in one of the last ' +
      'two states is sent only when somebody replays it.',
  }),
  attempt_count: z.int().min(0),
  replay_count: z.int().min(0),
  next_attempt_at: time.nullable(),
  created_at: time,
  updated_at: time,
});

const attemptSchema = objectSchema('DeliveryAttempt', {
  number: z.int().min(1).meta({ description: 'The count continues through replays.' }),
  started_at: time,
  duration_ms: z.int().min(0),
  status_code: z.int().nullable().meta({ description: 'Null: there was no answer.' }),
  error: z.string().nullable().meta({ description: 'Why there was no answer.' }),
  response_headers: z.record(z.string(), z.string()).nullable(),
  response_body: z.string().nullable().meta({
    description: 'The first 16 KiB of the answer, read as UTF-8. Invalid bytes are shown as U+FFFD.',
  }),
  response_truncated: z.boolean().nullable().meta({
    description: 'Whether the answer was longer. Null: unknown.',
  }),
});

export const deliveryWithAttemptsSchema = objectSchema('DeliveryWithAttempts', {
  ...deliverySchema.shape,
  attempts: z.array(attemptSchema).meta({ description: `Oldest first, at most the last ${SHOWN_ATTEMPTS}.` }),
});

export const deliveryListSchema = pageSchema(deliverySchema, 'DeliveryList');

export const listDeliveriesSchema = z.strictObject({
  ...pageQuery((id) => isId('dlv', id)).shape,
  endpoint_id: idFilter('endpoint_id', 'whe'),
  event_id: idFilter('event_id', 'evt'),
  object_id: objectFilter(['col', 'pay'], (id) => isId('col', id) || isId('pay', id)),
  state: deliveryState.optional(),
  ...timeFilters,
});

export function deliveryObject(delivery: ListedDelivery) {
  return wireObject(deliverySchema, delivery);
}

export function attemptObject(attempt: RecordedAttempt) {
  const responseBody = attempt.responseBody?.toString('utf8') ?? null;
  return wireObject(attemptSchema, { ...attempt, responseBody, responseTruncated: isResponseTruncated(attempt) });
}

// The bodies of webhooks in the document, for each type of event.
import { z } from 'zod';
import { COLLECTION_STATES } from '../../../domain/payments/collection.ts';
import { ENVIRONMENTS, type EventType } from '../../../domain/event.ts';
import { PAYOUT_STATES } from '../../../domain/payments/payout.ts';
import { collectionSchema } from '../payments/collection.ts';
import { payoutSchema } from '../payments/payout.ts';
import { idOf, time } from '../primitives.ts';
import { endpointSchema } from './endpoint.ts';

const collectionData = z.strictObject({
  object: collectionSchema.meta({ description: 'The object as the fetch route showed it at that moment.' }),
  previous_state: z.enum(COLLECTION_STATES).nullable(),
  late: z
    .literal(true)
    .optional()
    .meta({ description: 'The outcome came after the expiry was reported, or after the prompt window.' }),
});

const payoutData = z.strictObject({
  object: payoutSchema.meta({ description: 'The object as the fetch route showed it at that moment.' }),
  previous_state: z.enum(PAYOUT_STATES).nullable().meta({ description: 'Null: the object is new.' }),
});

const endpointTestData = z.strictObject({ object: endpointSchema });

export function eventBodySchema(type: EventType): z.ZodType {
  return z
    .strictObject({
      id: idOf('evt').meta({ description: 'The same for every attempt and replay.' }),
      type: z.literal(type),
      created_at: time,
      environment: z.enum(ENVIRONMENTS),
      data: dataOf(type),
    })
    .meta({ id: `Event_${type.replace('.', '_')}` });
}

function dataOf(type: EventType) {
  if (type === 'endpoint.test') return endpointTestData;
  return type.startsWith('collection.') ? collectionData : payoutData;
}

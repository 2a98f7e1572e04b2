// The webhooks of the OpenAPI document: the request that a merchant's receiver gets for each type of event.
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { z } from 'zod';
import { EVENT_TYPES, type EventType } from '../domain/event.ts';
import { idOf } from './schemas/primitives.ts';
import { eventBodySchema } from './schemas/webhooks/event-body.ts';

const SIGNATURE_EXAMPLE = 't=1767225600,v1=f6557ba7c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80912';

const headers = z.object({
  'Malipo-Signature': z.string().meta({
    description: 'The time of signing and one or two signatures; every attempt has a new time. Verify it.',
    example: SIGNATURE_EXAMPLE,
  }),
  'Malipo-Event-Id': idOf('evt').meta({ description: 'The same as `id` in the body.' }),
  'Malipo-Delivery-Id': idOf('dlv').meta({ description: 'This event for this endpoint.' }),
  'Malipo-Attempt': z.int().min(1).meta({ description: 'The count continues through replays.', example: 1 }),
});

export function openApiWebhooks(): ZodOpenApiPathsObject {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `receive_${type.replace('.', '_')}`,
          tags: ['Webhooks'],
          summary: summaryOf(type),
          description: 'Verify the signature over the bytes of the body, answer at once, and work afterwards.',
          security: [],
          requestParams: { header: headers },
          requestBody: { required: true, content: { 'application/json': { schema: eventBodySchema(type) } } },
          responses: {
            '2XX': {
              description: 'Accepted. Any other status is a failure, and the event is sent again on the schedule.',
            },
            '410': { description: 'Gone: the endpoint is disabled.' },
          },
        },
      },
    ]),
  );
}

function summaryOf(type: EventType): string {
  const [noun, state] = type.split('.');
  return type === 'endpoint.test'
    ? 'A test of the endpoint, requested by a person'
    : `A ${noun ?? ''} is now ${state ?? ''}`;
}

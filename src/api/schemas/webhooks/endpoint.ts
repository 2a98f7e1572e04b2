// Webhook endpoints on the wire.
import { z } from 'zod';
import { ENDPOINT_STATES, MAX_SECRET_OVERLAP_MS, SHOWN_DISABLED_REASONS } from '../../../domain/webhooks/endpoint.ts';
import { PAYMENT_EVENT_TYPES } from '../../../domain/event.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { formatAlone, idOf, objectSchema, printable, secondsUpTo, time, unlessMissing } from '../primitives.ts';

const URL_MESSAGE = 'url must be an address of at most 2048 visible ASCII characters.';

const paymentEventType = z.enum(PAYMENT_EVENT_TYPES).meta({ id: 'PaymentEventType' });
const endpointState = z.enum(ENDPOINT_STATES).meta({ id: 'EndpointState' });

/** The reason why nothing may be sent to this address; null if sending is allowed. */
export type RefuseUrl = (url: string) => string | null;

/** The fields that people set. `refuseUrl` is called only when a request arrives. */
export function endpointSettingsSchemas(refuseUrl: RefuseUrl) {
  const fields = {
    url: z
      .string({ error: unlessMissing(URL_MESSAGE) })
      .regex(/^[\x21-\x7e]{1,2048}$/, { error: URL_MESSAGE, abort: true })
      .refine((url) => refuseUrl(url) === null, {
        error: ({ input }) => `This url cannot receive events: ${String(refuseUrl(String(input)))}.`,
      })
      .meta({
        description: 'An `https` address of the public internet, without credentials.',
        example: 'https://shop.example/webhooks',
        format: 'uri',
        maxLength: 2048,
        override: formatAlone,
      }),
    description: printable('description', 200)
      .nullable()
      .optional()
      .meta({ description: 'Tells people which endpoint this is.', example: 'Shop server' }),
    event_types: z
      .array(paymentEventType, {
        error: unlessMissing('event_types must be a list of event types, or null for all of them.'),
      })
      .min(1, { error: 'event_types must name at least one type, or be null for all of them.' })
      .refine((list) => new Set(list).size === list.length, { error: 'event_types must name each type once.' })
      .meta({ uniqueItems: true })
      .nullable()
      .optional()
      .meta({ description: 'Null: all types, future ones included.' }),
  };
  return {
    create: objectSchema('CreateEndpoint', fields),
    change: z
      .strictObject({ ...fields, url: fields.url.optional(), state: endpointState.optional() })
      .refine((changes) => Object.keys(changes).length > 0, { error: 'Name at least one field to change.' })
      .meta({ id: 'ChangeEndpoint', minProperties: 1 }),
  };
}

export const rotateEndpointSecretSchema = objectSchema('RotateEndpointSecret', {
  keep_previous_for: secondsUpTo('keep_previous_for', MAX_SECRET_OVERLAP_MS).meta({
    description:
      'Seconds for which the previous secret also signs, at most 24 hours. 0: the previous secret stops signing now.',
  }),
});

const WEBHOOK_SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq';

export const endpointId = idOf('whe');

export const endpointSchema = objectSchema('Endpoint', {
  id: endpointId,
  url: z.string(),
  description: z.string().nullable(),
  event_types: z
    .array(paymentEventType)
    .nullable()
    .meta({ description: 'The types that the endpoint receives. Null: every type.' }),
  state: endpointState,
  disabled_reason: z.enum(SHOWN_DISABLED_REASONS).nullable().meta({
    example: null,
    description:
      '`by_person`: a person disabled it. `answered_gone`: it answered 410. `failing`: every attempt failed for too long. Null: it is enabled.',
  }),
  disabled_at: time.nullable().meta({ example: null }),
  failing_since: time.nullable().meta({ example: null, description: 'Since then the endpoint has accepted nothing.' }),
  will_be_disabled_at: time
    .nullable()
    .meta({ example: null, description: 'When it will be disabled if it keeps failing.' }),
  previous_secret_until: time.nullable().meta({
    example: null,
    description: 'Until then the previous secret also signs; its signature comes second.',
  }),
  created_at: time,
  updated_at: time,
});

export const endpointWithSecretSchema = objectSchema('EndpointWithSecret', {
  ...endpointSchema.shape,
  secret: z
    .string()
    .regex(/^whsec_/)
    .meta({
      description: 'The secret that signs its events. Shown only this once.',
      example: WEBHOOK_SECRET_EXAMPLE,
    }),
});

export const sentTestEventSchema = objectSchema('SentTestEvent', { event_id: idOf('evt'), delivery_id: idOf('dlv') });

export const endpointListSchema = pageSchema(endpointSchema, 'EndpointList');
export const listEndpointsSchema = pageQuery((id) => isId('whe', id));

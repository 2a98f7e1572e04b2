// Webhook endpoints on the wire.
import { z } from 'zod';
import { ENDPOINT_STATES, MAX_SECRET_OVERLAP_MS, SHOWN_DISABLED_REASONS } from '../../../domain/webhooks/endpoint.ts';
import { PAYMENT_EVENT_TYPES, type PaymentEventType } from '../../../domain/event.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { formatAlone, idOf, printable, time } from '../primitives.ts';

const MAX_KEEP_SECONDS = MAX_SECRET_OVERLAP_MS / 1000;
const KEEP_MESSAGE = `keep_previous_for must be a whole number of seconds from 0 to ${MAX_KEEP_SECONDS}.`;
const URL_MESSAGE = 'url must be an address of at most 2048 visible ASCII characters.';

const paymentEventType = z
  .enum(PAYMENT_EVENT_TYPES as [PaymentEventType, ...PaymentEventType[]])
  .meta({ id: 'PaymentEventType' });
const endpointState = z.enum(ENDPOINT_STATES).meta({ id: 'EndpointState' });

/** Why nothing may be sent to this address; null when something may. */
export type RefuseUrl = (url: string) => string | null;

/** The fields that people set. `refuseUrl` is not called before a request comes. */
export function endpointSettingsSchemas(refuseUrl: RefuseUrl) {
  const fields = {
    url: z
      .string({ error: (issue) => (issue.input === undefined ? undefined : URL_MESSAGE) })
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
        error: (issue) =>
          issue.input === undefined ? undefined : 'event_types must be a list of event types, or null for all of them.',
      })
      .min(1, { error: 'event_types must name at least one type, or be null for all of them.' })
      .refine((list) => new Set(list).size === list.length, { error: 'event_types must name each type once.' })
      .meta({ uniqueItems: true })
      .nullable()
      .optional()
      .meta({ description: 'Null: all types, future ones included.' }),
  };
  return {
    create: z.strictObject(fields).meta({ id: 'CreateEndpoint' }),
    change: z
      .strictObject({ ...fields, url: fields.url.optional(), state: endpointState.optional() })
      .refine((changes) => Object.keys(changes).length > 0, { error: 'Name at least one field to change.' })
      .meta({ id: 'ChangeEndpoint', minProperties: 1 }),
  };
}

export const rotateEndpointSecretSchema = z
  .strictObject({
    keep_previous_for: z
      .int({ error: KEEP_MESSAGE })
      .min(0, { error: KEEP_MESSAGE })
      .max(MAX_KEEP_SECONDS, { error: KEEP_MESSAGE })
      .default(0)
      .meta({
        description:
          'Seconds for which the previous secret also signs, at most 24 hours. 0: the previous secret stops signing now.',
      }),
  })
  .meta({ id: 'RotateEndpointSecret' });

const WEBHOOK_SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq';

export const endpointId = idOf('whe');

const fields = {
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
};

export const endpointSchema = z.strictObject(fields).meta({ id: 'Endpoint' });

export const endpointWithSecretSchema = z
  .strictObject({
    ...fields,
    secret: z
      .string()
      .regex(/^whsec_/)
      .meta({
        description: 'The secret that signs its events. Shown only this once.',
        example: WEBHOOK_SECRET_EXAMPLE,
      }),
  })
  .meta({ id: 'EndpointWithSecret' });

export const sentTestEventSchema = z
  .strictObject({ event_id: idOf('evt'), delivery_id: idOf('dlv') })
  .meta({ id: 'SentTestEvent' });

export const endpointListSchema = pageSchema(endpointSchema, 'EndpointList');
export const listEndpointsSchema = pageQuery((id) => isId('whe', id));

// Schemas for the parts of the service's responses that the command line uses; unknown fields are kept and shown.
import { z } from 'zod';
import type { ApiResponse } from './api.ts';
import { CliFailure } from './failure.ts';

export const sessionSchema = z.looseObject({
  person: z.looseObject({ id: z.string(), name: z.string(), email: z.string() }),
  merchant: z.looseObject({ id: z.string(), name: z.string(), currency: z.string() }),
  merchants: z.array(z.looseObject({ id: z.string(), name: z.string() })),
  environment: z.string(),
  roles: z.array(z.string()),
  has_second_factor: z.boolean(),
  fresh_until: z.iso.datetime().nullable(),
  must_enrol: z.boolean(),
});
export type SessionObject = z.infer<typeof sessionSchema>;

export const eventRowSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.iso.datetime(),
  object_id: z.string(),
});
export type EventRow = z.infer<typeof eventRowSchema>;

export const eventSchema = eventRowSchema.extend({
  body: z.string(),
  deliveries: z.array(z.looseObject({ id: z.string(), endpoint_id: z.string(), state: z.string() })),
});
export type EventObject = z.infer<typeof eventSchema>;

export const deliverySchema = z.looseObject({
  id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  endpoint_id: z.string(),
  state: z.string(),
  attempt_count: z.number(),
  replay_count: z.number(),
  next_attempt_at: z.string().nullable(),
  created_at: z.string(),
});
export type DeliveryObject = z.infer<typeof deliverySchema>;

export const shownDeliverySchema = deliverySchema.extend({
  attempts: z.array(
    z.looseObject({
      number: z.number(),
      started_at: z.string(),
      duration_ms: z.number(),
      status_code: z.number().nullable(),
      error: z.string().nullable(),
      response_headers: z.record(z.string(), z.string()).nullable(),
      response_body: z.string().nullable(),
    }),
  ),
});

export const replaySchema = z.looseObject({
  id: z.string(),
  state: z.string(),
  total: z.number(),
  replayed: z.number(),
  skipped: z.number(),
});
export type ReplayObject = z.infer<typeof replaySchema>;

export const endpointSchema = z.looseObject({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  event_types: z.array(z.string()).nullable(),
  state: z.string(),
  disabled_reason: z.string().nullable(),
  failing_since: z.string().nullable(),
});
export type EndpointObject = z.infer<typeof endpointSchema>;

export const paymentSchema = z.looseObject({ id: z.string(), state: z.string(), created_at: z.iso.datetime() });
export const payoutSchema = paymentSchema.extend({ expires_at: z.iso.datetime() });
export type PayoutObject = z.infer<typeof payoutSchema>;

/** The response in the form of the schema. Throws a `CliFailure` for another form: the service has another version. */
export function parseResponse<Schema extends z.ZodType>(schema: Schema, { json }: ApiResponse): z.infer<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue ? `${issue.path.join('.')}: ${issue.message}` : '';
  throw new CliFailure('failed', `this version of malipo does not understand the answer of the service (${where})`);
}

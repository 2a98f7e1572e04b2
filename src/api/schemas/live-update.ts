// Live updates on the wire.
import { z } from 'zod';
import { LIVE_UPDATE_KINDS, type LiveUpdate } from '../../domain/live-update.ts';
import { objectSchema, time } from './primitives.ts';

export const liveUpdateSchema = objectSchema('LiveUpdate', {
  kind: z.enum(LIVE_UPDATE_KINDS),
  id: z.string().meta({ description: 'The id of the object.', example: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
  state: z.string().meta({ example: 'succeeded' }),
  changed_at: time,
});

export const streamReadySchema = objectSchema('StreamReady', {
  resumed: z.boolean().meta({
    description:
      'True: the missed updates follow. False: the missed updates are unknown, so fetch everything again that you show.',
  }),
});

const EXAMPLE = `id: 1042-0-1769860800000
event: ready
data: {"resumed":false}

id: 1043-77-1769860801000
event: update
data: {"kind":"payout","id":"pay_01j9z3k5m7n9p1q3r5s7t9v1w3","state":"succeeded","changed_at":"2026-01-31T12:00:01.000Z"}

`;

export const streamSchema = z.string().meta({
  example: EXAMPLE,
  contentMediaType: 'text/event-stream',
  contentSchema: { oneOf: ['StreamReady', 'LiveUpdate'].map((id) => ({ $ref: `#/components/schemas/${id}` })) },
});

export const openStreamSchema = z.strictObject({
  after: z
    .string()
    .regex(/^[0-9]{1,18}-[0-9]{1,18}-[0-9]{1,15}$/, { error: 'after must be the id of an event of this stream.' })
    .optional()
    .meta({
      description:
        'Like the header `Last-Event-ID`, for a reader that cannot send the header. The header takes precedence.',
      example: '1043-77-1769860801000',
    }),
});

export function liveUpdateObject({ kind, objectId, state, changedAt }: LiveUpdate): z.input<typeof liveUpdateSchema> {
  return { kind, id: objectId, state, changed_at: changedAt.toISOString() };
}

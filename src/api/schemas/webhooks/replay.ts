// Replays of many deliveries on the wire.
import { z } from 'zod';
import { isId } from '../../../domain/ids.ts';
import {
  MAX_REPLAY_TOTAL,
  REPLAYABLE_STATES,
  UNDELIVERED_STATES,
  type ReplayFilter,
} from '../../../domain/webhooks/replay.ts';
import type { RequestedReplay } from '../../../operations/webhooks/read-deliveries.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { knownPerson, userId } from '../accounts/person.ts';
import { choiceOf, idForm, idOf, instant, objectSchema, time, unlessMissing } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const ALL_MESSAGE = 'all can only be true. Omit all if another field narrows the choice.';
const replayableState = z.enum(REPLAYABLE_STATES);

export const createReplaySchema = z
  .strictObject({
    endpoint_id: z
      .string({ error: unlessMissing('endpoint_id must be text.') })
      .refine((id) => isId('whe', id), {
        error: 'endpoint_id must be an id that begins with whe_.',
      })
      .optional()
      .meta({ description: 'Default: all endpoints.', ...idForm('whe') }),
    all: z
      .boolean({ error: ALL_MESSAGE })
      .refine((isAll) => isAll, { error: ALL_MESSAGE })
      .optional()
      .meta({
        description: 'Confirms that no other field narrows the choice. A request without any field is refused.',
        override: { type: 'boolean', const: true },
      }),
    states: choiceOf('states', replayableState, 'state')
      .optional()
      .meta({
        description: `Without it: ${UNDELIVERED_STATES.map((state) => `\`${state}\``).join(' and ')}.`,
        uniqueItems: true,
      }),
    created_from: instant('created_from')
      .optional()
      .meta({ description: 'Only deliveries created at this time or later. RFC 3339.' }),
    created_to: instant('created_to')
      .optional()
      .meta({ description: 'Only deliveries created before this time. Default: now. RFC 3339.' }),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
    error: 'Say which deliveries: by endpoint_id, states, created_from or created_to, or "all": true.',
  })
  .meta({
    id: 'CreateReplay',
    minProperties: 1,
    example: { states: ['dead_lettered'], created_from: '2026-01-31T00:00:00.000Z' },
  });

/** The filter never selects deliveries created after `at`: a replay covers existing deliveries. */
export function toReplayFilter(body: z.output<typeof createReplaySchema>, at: Date): ReplayFilter {
  const { endpoint_id: endpointId, states, created_from: madeFrom, created_to: to } = body;
  return {
    endpointId: endpointId ?? null,
    states: states ?? UNDELIVERED_STATES,
    madeFrom: madeFrom ?? null,
    madeBefore: to !== undefined && to < at ? to : at,
  };
}

export const replaySchema = objectSchema('Replay', {
  id: idOf('rpl'),
  endpoint_id: idOf('whe').nullable().meta({ description: 'Null: all endpoints.' }),
  states: z.array(replayableState),
  created_from: time.nullable(),
  created_to: time,
  state: z.enum(['running', 'completed']),
  total: z
    .int()
    .min(0)
    .max(MAX_REPLAY_TOTAL)
    .meta({
      description: `How many deliveries matched when the replay began, counted up to ${MAX_REPLAY_TOTAL}, which means that many or more. All of them are replayed.`,
    }),
  replayed: z.int().min(0).meta({ description: 'How many deliveries were scheduled again.' }),
  skipped: z.int().min(0).meta({ description: 'Skipped deliveries, whose endpoint is disabled or deleted.' }),
  requested_by: userId,
  requested_by_person: knownPerson,
  created_at: time,
  completed_at: time.nullable(),
});

export const replayListSchema = pageSchema(replaySchema, 'ReplayList');
export const listReplaysSchema = pageQuery((id) => isId('rpl', id));

export function replayObject(replay: RequestedReplay) {
  const { madeFrom: createdFrom, madeBefore: createdTo, person: requestedByPerson } = replay;
  return wireObject(replaySchema, { ...replay, createdFrom, createdTo, requestedByPerson });
}

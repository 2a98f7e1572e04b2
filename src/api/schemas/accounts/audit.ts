// The audit log on the wire.
import { z } from 'zod';
import type { ListedAuditEntry } from '../../../domain/accounts/audit.ts';
import { isId, type ApiKeyId, type UserId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema, timeFilters } from '../page.ts';
import { knownPerson } from './person.ts';
import { objectSchema, printable, time } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const values = z.record(z.string(), z.unknown()).nullable();

const auditEntrySchema = objectSchema('AuditEntry', {
  id: z.string().meta({ description: 'Increases with time.' }),
  at: time,
  action: z.string().meta({
    description: 'Noun and past verb. For a refusal before the act was known: method and route.',
    example: 'api_key.created',
  }),
  outcome: z.enum(['done', 'refused']),
  person: knownPerson.nullable(),
  api_key: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
  staff: z.strictObject({ id: z.string(), name: z.string() }).nullable().meta({
    description:
      'The member of the service’s staff who acted. Null, with no person and no API key either: the service itself acted.',
  }),
  subject_id: z.string().nullable().meta({ description: 'The object of the act.' }),
  before: values,
  after: values.meta({ description: 'For a refusal: the reason, which the person was not told.' }),
  address: z
    .string()
    .nullable()
    .meta({ description: 'The address that the request came from.', example: '203.0.113.7' }),
  request_id: z.string().nullable(),
});

export const auditListSchema = pageSchema(auditEntrySchema, 'AuditEntryList');

const ANY_ID = '^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$';
const ACTOR_ID = '^(usr|key)_[0-7][0-9a-hjkmnp-tv-z]{25}$';

export const listAuditSchema = z.strictObject({
  ...pageQuery((text): text is string => /^[1-9][0-9]{0,17}$/.test(text)).shape,
  subject_id: z
    .string()
    .regex(new RegExp(ANY_ID), { error: 'subject_id must be an id.' })
    .optional()
    .meta({ description: 'The object of the act.', example: 'pay_01j9z3k5m7n9p1q3r5s7t9v1w3' }),
  actor_id: z
    .string()
    .refine((id): id is UserId | ApiKeyId => isId('usr', id) || isId('key', id), {
      error: 'actor_id must be an id that begins with usr_ or key_.',
    })
    .optional()
    .meta({
      description: 'The person or the API key that acted.',
      pattern: ACTOR_ID,
      example: 'usr_01j9z3k5m7n9p1q3r5s7t9v1w3',
    }),
  action: printable('action', 100).optional().meta({ example: 'payout.released' }),
  outcome: z.enum(['done', 'refused']).optional(),
  ...timeFilters,
});

export function auditEntryObject(entry: ListedAuditEntry) {
  return wireObject(auditEntrySchema, { ...entry, person: entry.user });
}

// The audit log on the wire.
import { z } from 'zod';
import type { ListedAuditEntry } from '../../../domain/accounts/audit.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { namedPerson } from './person.ts';
import { time } from '../primitives.ts';

const values = z.record(z.string(), z.unknown()).nullable();

const auditEntrySchema = z
  .strictObject({
    id: z.string().meta({ description: 'Rises with time.' }),
    at: time,
    action: z.string().meta({
      description: 'Noun and past verb; of a refusal before anything had a name, method and route.',
      example: 'api_key.created',
    }),
    outcome: z.enum(['done', 'refused']),
    person: namedPerson.nullable(),
    api_key: z.strictObject({ id: z.string(), name: z.string() }).nullable(),
    staff: z.string().nullable().meta({
      description: 'Who of the service’s staff acted. With no person and no API key either: the service by itself.',
    }),
    subject_id: z.string().nullable().meta({ description: 'What it was done to.' }),
    before: values,
    after: values.meta({ description: 'Of a refusal: its reason, which the person was not told.' }),
    address: z.string().nullable().meta({ description: 'Where it came from.', example: '203.0.113.7' }),
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });

export const auditListSchema = pageSchema(auditEntrySchema, 'AuditEntryList');
export const listAuditSchema = pageQuery((text): text is string => /^[1-9][0-9]{0,17}$/.test(text));

export function auditEntryObject(entry: ListedAuditEntry) {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    action: entry.action,
    outcome: entry.outcome,
    person: entry.user,
    api_key: entry.apiKey,
    staff: entry.staff,
    subject_id: entry.subjectId,
    before: entry.before,
    after: entry.after,
    address: entry.address,
    request_id: entry.requestId,
  };
}

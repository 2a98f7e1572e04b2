// API keys on the wire.
import { z } from 'zod';
import { apiKeyState, MAX_ROLL_OVERLAP_MS, SCOPES, type ListedApiKey } from '../../../domain/accounts/api-key.ts';
import { isId } from '../../../domain/ids.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { namedPerson } from './person.ts';
import { idOf, instant, printable, time } from '../primitives.ts';

const MAX_KEEP_SECONDS = MAX_ROLL_OVERLAP_MS / 1000;
const KEEP_MESSAGE = `keep_old_for must be a whole number of seconds from 0 to ${MAX_KEEP_SECONDS}.`;

export const createApiKeySchema = z
  .strictObject({
    name: printable('name', 100).meta({ description: 'For people to tell keys apart.', example: 'Shop server' }),
    scopes: z
      .array(z.enum(SCOPES), {
        error: (issue) => (issue.input === undefined ? undefined : 'scopes must be a list of scopes.'),
      })
      .min(1, { error: 'scopes must name at least one scope.' })
      .refine((list) => new Set(list).size === list.length, { error: 'scopes must name each scope once.' })
      .meta({ example: ['collections:read', 'collections:write'], uniqueItems: true }),
    expires_at: instant('expires_at')
      .refine((at) => at.getTime() > Date.now(), { error: 'expires_at must be a time to come.' })
      .optional()
      .meta({ description: 'Without it the key lives until it is revoked.' }),
  })
  .meta({ id: 'CreateApiKey' });

export const rollApiKeySchema = z
  .strictObject({
    keep_old_for: z
      .int({ error: KEEP_MESSAGE })
      .min(0, { error: KEEP_MESSAGE })
      .max(MAX_KEEP_SECONDS, { error: KEEP_MESSAGE })
      .default(0)
      .meta({ description: 'Seconds that the old key lives on, 72 hours at the most. 0: it is revoked now.' }),
  })
  .meta({ id: 'RollApiKey' });

const fields = {
  id: idOf('key'),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  hint: z.string().meta({ description: 'Enough to tell keys apart.', example: 'sk_test_…a1B2' }),
  created_by: namedPerson.nullable().meta({ description: 'Counts as the maker of what is made with the key.' }),
  created_at: time,
  last_used_at: time.nullable().meta({ description: 'To the minute.' }),
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
  replaced_by: z.string().nullable().meta({ description: 'The key that it was rolled to.' }),
};

export const apiKeySchema = z.strictObject(fields).meta({ id: 'ApiKey' });

export const createdApiKeySchema = z
  .strictObject({ ...fields, key: z.string().meta({ description: 'The key itself. Shown this once.' }) })
  .meta({ id: 'MadeApiKey' });

export const apiKeyListSchema = pageSchema(apiKeySchema, 'ApiKeyList');
export const listApiKeysSchema = pageQuery((id) => isId('key', id));

export function apiKeyObject(key: ListedApiKey, at: Date): z.input<typeof apiKeySchema> {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    hint: `sk_${key.environment}_…${key.hint}`,
    created_by: key.createdBy,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    state: apiKeyState(key, at),
    replaced_by: key.replacedBy,
  };
}

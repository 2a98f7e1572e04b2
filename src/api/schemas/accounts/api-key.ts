// API keys on the wire.
import { z } from 'zod';
import {
  apiKeyState,
  DEFAULT_PAYOUT_KEY_LIFE_MS,
  MAX_ALLOWED_ADDRESSES,
  MAX_PAYOUT_KEY_LIFE_MS,
  MAX_ROLL_OVERLAP_MS,
  SCOPES,
  type ListedApiKey,
} from '../../../domain/accounts/api-key.ts';
import { isId } from '../../../domain/ids.ts';
import { parseBlock } from '../../../security/address-blocks.ts';
import { pageQuery, pageSchema } from '../page.ts';
import { namedPerson } from './person.ts';
import { choiceOf, idOf, instant, objectSchema, printable, secondsUpTo, time, unlessMissing } from '../primitives.ts';
import { wireObject } from '../wire-object.ts';

const DAY_MS = 24 * 60 * 60_000;
const MAX_DAYS = MAX_PAYOUT_KEY_LIFE_MS / DAY_MS;
const DEFAULT_DAYS = DEFAULT_PAYOUT_KEY_LIFE_MS / DAY_MS;

const expiresAt = instant('expires_at')
  .refine((at) => at.getTime() > Date.now(), { error: 'expires_at must be in the future.' })
  .optional()
  .meta({ example: '2099-12-31T12:00:00.000Z' });

const BLOCK_MESSAGE =
  'allowed_addresses must name addresses such as 203.0.113.7, or blocks such as 203.0.113.0/24 with no bit beyond the prefix.';

const addressBlock = z
  .string({ error: unlessMissing(BLOCK_MESSAGE) })
  .transform((text, context) => {
    const block = parseBlock(text);
    if (block !== null) return block;
    context.addIssue({ code: 'custom', message: BLOCK_MESSAGE });
    return z.NEVER;
  })
  .meta({
    example: '203.0.113.0/24',
    // Every address and block matches; some text that matches is neither.
    override: { type: 'string', minLength: 2, maxLength: 49, pattern: '^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$' },
  });

export const createApiKeySchema = objectSchema('CreateApiKey', {
  name: printable('name', 100).meta({ description: 'Tells people which key this is.', example: 'Shop server' }),
  scopes: choiceOf('scopes', z.enum(SCOPES), 'scope').meta({
    example: ['collections:read', 'collections:write'],
    uniqueItems: true,
  }),
  expires_at: expiresAt.meta({
    description:
      `Default: a key with \`payouts:write\` is valid for ${DEFAULT_DAYS} days, any other key until it is revoked. A ` +
      `key with \`payouts:write\` is valid for at most ${MAX_DAYS} days.`,
  }),
  allowed_addresses: z
    .array(addressBlock, { error: unlessMissing('allowed_addresses must be a list of addresses.') })
    .min(1, {
      error: 'allowed_addresses must name at least one address. Leave it out for a key that works anywhere.',
    })
    .max(MAX_ALLOWED_ADDRESSES, {
      error: `allowed_addresses can name at most ${MAX_ALLOWED_ADDRESSES} addresses.`,
    })
    .refine((list) => new Set(list).size === list.length, { error: 'allowed_addresses must name each address once.' })
    .optional()
    .meta({
      description:
        'The only addresses and blocks, IPv4 or IPv6, from which the key works. From any other address the key is ' +
        'refused with `permission_denied`. A key that replaces this one has the same addresses. Default: the key works ' +
        'from anywhere.',
      example: ['203.0.113.7', '2001:db8:40::/48'],
      uniqueItems: true,
    }),
});

export const rollApiKeySchema = objectSchema('RollApiKey', {
  keep_old_for: secondsUpTo('keep_old_for', MAX_ROLL_OVERLAP_MS).meta({
    description: 'Seconds for which the old key stays valid, at most 72 hours. 0: the old key is revoked now.',
  }),
  expires_at: expiresAt.meta({
    description:
      'When the new key expires. Default: a key with `payouts:write` is valid for as long as the old key was when it ' +
      `was created, or ${DEFAULT_DAYS} days if the old key had no expiry; any other key expires when the old one would ` +
      `have. A key with \`payouts:write\` is valid for at most ${MAX_DAYS} days.`,
  }),
});

export const apiKeySchema = objectSchema('ApiKey', {
  id: idOf('key'),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  allowed_addresses: z
    .array(z.string().meta({ example: '203.0.113.7/32' }))
    .nullable()
    .meta({
      description: 'Blocks of addresses; a single address has its full prefix. Null: the key works from anywhere.',
    }),
  hint: z.string().meta({ description: 'The beginning of the key, enough to recognize it.', example: 'sk_test_…a1B2' }),
  created_by: namedPerson.nullable().meta({ description: 'The maker of everything that is created with the key.' }),
  created_at: time,
  last_used_at: time.nullable().meta({ description: 'To the minute.' }),
  expires_at: time.nullable().meta({ description: 'Null: never. A new key with `payouts:write` always expires.' }),
  revoked_at: time.nullable(),
  state: z.enum(['active', 'expired', 'revoked']),
  replaced_by: z.string().nullable().meta({ description: 'The key that replaced this one.' }),
});

export const createdApiKeySchema = objectSchema('MadeApiKey', {
  ...apiKeySchema.shape,
  key: z.string().meta({ description: 'The key itself. Shown only this once.' }),
});

export const apiKeyListSchema = pageSchema(apiKeySchema, 'ApiKeyList');
export const listApiKeysSchema = pageQuery((id) => isId('key', id));

export function apiKeyObject(key: ListedApiKey, at: Date) {
  return wireObject(apiKeySchema, { ...key, hint: `sk_${key.environment}_…${key.hint}`, state: apiKeyState(key, at) });
}

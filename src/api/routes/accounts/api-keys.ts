// API keys in the console: create, list, roll, revoke.
import type { ApiKeyId, MerchantId } from '../../../domain/ids.ts';
import { createApiKey, revokeApiKey, rollApiKey } from '../../../operations/accounts/create-api-key.ts';
import { getApiKey, listApiKeys } from '../../../db/accounts/api-key.ts';
import { route, routesUnder, type RouteDeps } from '../../route.ts';
import { oneObject } from '../../route-description.ts';
import {
  apiKeyListSchema,
  apiKeyObject,
  apiKeySchema,
  createApiKeySchema,
  listApiKeysSchema,
  createdApiKeySchema,
  rollApiKeySchema,
} from '../../schemas/accounts/api-key.ts';
import { onePage, pageObject } from '../../schemas/page.ts';

const ROLES = ['admin', 'developer'] as const;

export const apiKeyRoutes = routesUnder<RouteDeps>('Console keys', '/v1/console/keys', [
  route('GET', {
    operationId: 'listApiKeys',
    summary: 'List API keys, newest first',
    description: 'Includes revoked and expired keys. No response shows a key itself again.',
    access: 'session',
    ...onePage(listApiKeysSchema, apiKeyListSchema),
    handle: async ({ merchantId, query: { limit, cursor = null } }, deps) => {
      const page = await listApiKeys(deps.db, merchantId, cursor, limit);
      const at = new Date();
      return { body: pageObject(page, (key) => apiKeyObject(key, at)) };
    },
  }),
  route('POST', {
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'A `developer` cannot create a key with `payouts:write`. The creator of a key is the maker of its payouts. Once ' +
      'the creator has left, the key creates no payouts.',
    access: { roles: ROLES },
    needsStepUp: true,
    body: createApiKeySchema,
    response: { status: 201, description: 'The key, shown only this once.', schema: createdApiKeySchema },
    errors: ['state_conflict'],
    handle: async ({ merchantId, body: { name, scopes, ...optional }, by }, deps) => {
      const created = await createApiKey(deps.db, {
        merchantId,
        name,
        environment: deps.environment,
        scopes,
        expiresAt: optional.expires_at ?? null,
        allowedAddresses: optional.allowed_addresses,
        createdBy: by.person.userId,
        by,
        at: new Date(),
      });
      return { body: await createdKeyObject(deps, merchantId, created) };
    },
  }),
  route('POST /{id}/roll', {
    operationId: 'rollApiKey',
    summary: 'Replace an API key with a new one',
    description:
      'The new key has the name, scopes and allowed addresses of the old key. The person who rolls the key becomes the ' +
      'creator of the new key, because that person now holds it.',
    access: { roles: ROLES },
    needsStepUp: true,
    idPrefix: 'key',
    body: rollApiKeySchema,
    response: { status: 201, description: 'The new key, shown only this once.', schema: createdApiKeySchema },
    errors: ['state_conflict'],
    handle: async ({ merchantId, id, body, by }, deps) => {
      const { keep_old_for: keepOldFor, expires_at: expiresAt = null } = body;
      const input = { id, keepOldForMs: keepOldFor * 1000, expiresAt, by, at: new Date() };
      return { body: await createdKeyObject(deps, merchantId, await rollApiKey(deps.db, input)) };
    },
  }),
  route('DELETE /{id}', {
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'The key stops working at once. Revoking it again changes nothing.',
    access: { roles: ROLES },
    ...oneObject('key', 'The key, revoked.', apiKeySchema),
    handle: async ({ id, by }, deps) => {
      const at = new Date();
      return { body: apiKeyObject(await revokeApiKey(deps.db, id, by, at), at) };
    },
  }),
]);

async function createdKeyObject(
  { db }: RouteDeps,
  merchantId: MerchantId,
  { id, key }: { readonly id: ApiKeyId; readonly key: string },
) {
  return { ...apiKeyObject(await getApiKey(db, merchantId, id), new Date()), key };
}

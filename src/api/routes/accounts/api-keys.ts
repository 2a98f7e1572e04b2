// API keys in the console: create, list, roll, revoke.
import type { ApiKeyId } from '../../../domain/ids.ts';
import { createApiKey } from '../../../operations/accounts/create-api-key.ts';
import { getApiKey } from '../../../queries/accounts/api-key.ts';
import { listApiKeys } from '../../../queries/accounts/api-key.ts';
import { revokeApiKey } from '../../../operations/accounts/revoke-api-key.ts';
import { rollApiKey } from '../../../operations/accounts/roll-api-key.ts';
import { consoleRoute, idOf } from '../../console-route.ts';
import { auditOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../../context.ts';
import { readIntegers, readLists } from '../../form.ts';
import { isForm } from '../../middleware/body.ts';
import type { Route } from '../../route.ts';
import {
  apiKeyListSchema,
  apiKeyObject,
  apiKeySchema,
  createApiKeySchema,
  listApiKeysSchema,
  madeApiKeySchema,
  rollApiKeySchema,
} from '../../schemas/accounts/api-key.ts';
import { PAGE_CODES, pageObject } from '../../schemas/page.ts';
import { validate } from '../../validation.ts';

const TAG = 'keys';
const PATH = '/v1/console/keys';
const ROLES = ['admin', 'developer'] as const;

export function apiKeyRoutes(deps: ApiDeps): Route[] {
  return [listRoute(deps), createRoute(deps), rollRoute(deps), revokeRoute(deps)];
}

function listRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'get',
      path: PATH,
      operationId: 'listApiKeys',
      tag: TAG,
      summary: 'List API keys, newest first',
      description: 'Those revoked and expired too. The keys themselves cannot be seen again.',
      query: listApiKeysSchema,
      answer: { status: 200, description: 'One page.', schema: apiKeyListSchema },
      errors: ['parameter_invalid', 'cursor_invalid'],
    },
    async (ctx) => {
      const { limit, cursor } = validate(listApiKeysSchema, { ...ctx.query }, PAGE_CODES);
      const page = await listApiKeys(deps.db, sessionOf(ctx).person.merchantId, cursor ?? null, limit);
      const at = new Date();
      ctx.body = pageObject(page, (key) => apiKeyObject(key, at));
    },
  );
}

function createRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: PATH,
      operationId: 'createApiKey',
      tag: TAG,
      summary: 'Make an API key',
      description:
        'A `developer` cannot make one with `payouts:write`. Payouts made with the key count as made by who made the key; ' +
        'when that person has left, it makes none.',
      roles: ROLES,
      body: createApiKeySchema,
      answer: { status: 201, description: 'The key, shown this once.', schema: madeApiKeySchema },
      errors: ['state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readLists(ctx.request.body, ['scopes']) : ctx.request.body;
      const { name, scopes, expires_at: expiresAt } = validate(createApiKeySchema, fields);
      const { merchantId, userId: createdBy } = sessionOf(ctx).person;
      const made = await createApiKey(deps.db, {
        merchantId,
        name,
        environment: deps.environment,
        scopes,
        expiresAt: expiresAt ?? null,
        createdBy,
        by: auditOf(ctx),
        at: new Date(),
      });
      await answerMadeKey(ctx, deps, made);
    },
  );
}

function rollRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'post',
      path: `${PATH}/{id}/roll`,
      operationId: 'rollApiKey',
      tag: TAG,
      summary: 'Put a new API key in the place of this one',
      description:
        'It has the name, scopes and expiry of the old one. Whoever rolls becomes its creator, since they hold it now.',
      roles: ROLES,
      id: 'key',
      body: rollApiKeySchema,
      answer: { status: 201, description: 'The new key, shown this once.', schema: madeApiKeySchema },
      errors: ['api_key_not_found', 'state_conflict'],
    },
    async (ctx) => {
      const fields = isForm(ctx) ? readIntegers(ctx.request.body, ['keep_old_for']) : ctx.request.body;
      const { keep_old_for: seconds } = validate(rollApiKeySchema, fields);
      const input = { id: idOf(ctx), keepOldForMs: seconds * 1000, by: auditOf(ctx), at: new Date() };
      await answerMadeKey(ctx, deps, await rollApiKey(deps.db, input));
    },
  );
}

function revokeRoute(deps: ApiDeps): Route {
  return consoleRoute(
    deps,
    {
      method: 'delete',
      path: `${PATH}/{id}`,
      operationId: 'revokeApiKey',
      tag: TAG,
      summary: 'Revoke an API key',
      description: 'From this moment on. Revoking it again changes nothing.',
      roles: ROLES,
      id: 'key',
      answer: { status: 200, description: 'The key, revoked.', schema: apiKeySchema },
      errors: ['api_key_not_found'],
    },
    async (ctx) => {
      const at = new Date();
      ctx.body = apiKeyObject(await revokeApiKey(deps.db, idOf(ctx), auditOf(ctx), at), at);
    },
  );
}

async function answerMadeKey(
  ctx: Parameters<ApiMiddleware>[0],
  { db }: ApiDeps,
  { id, key }: { readonly id: ApiKeyId; readonly key: string },
): Promise<void> {
  const made = await getApiKey(db, sessionOf(ctx).person.merchantId, id);
  ctx.status = 201;
  ctx.body = { ...apiKeyObject(made, new Date()), key };
}

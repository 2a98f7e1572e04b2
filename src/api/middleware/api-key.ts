// Lets in callers with a valid key that has the scope of the route, or with a session in a role that has it.
import type { Scope } from '../../domain/accounts/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import { permissionDenied, scopesOfRoles, type Person } from '../../domain/accounts/member.ts';
import { authenticateApiKey } from '../../operations/accounts/authenticate-api-key.ts';
import { addressOf, routeOf, sessionOf, type ApiDeps, type ApiMiddleware, type Caller } from '../context.ts';
import { readSessionToken } from '../session-cookie.ts';
import { requireSession, type SessionDemands } from './session.ts';

type Context = Parameters<ApiMiddleware>[0];
type ScopeDeps = Pick<ApiDeps, 'db' | 'environment' | 'publicUrl' | 'limitKey' | 'refusedKeys'>;

/**
 * An Authorization header decides, whatever cookie comes with it; without one the session counts. A key without the
 * scope is refused with `insufficient_scope`, a session without it or against the demands with `permission_denied`.
 */
export function requireScope(scope: Scope, deps: ScopeDeps, demands: SessionDemands): ApiMiddleware {
  const enterSession = requireSession(deps, demands);
  return async (ctx, next) => {
    const header = ctx.get('Authorization');
    if (header === '' && readSessionToken(ctx, deps.publicUrl) !== null) {
      await enterSession(ctx, async () => {
        ctx.state.caller = personAsCaller(sessionOf(ctx).person, scope);
        await next();
      });
      return;
    }
    ctx.state.caller = await keyAsCaller(ctx, scope, deps);
    await next();
  };
}

async function keyAsCaller(ctx: Context, scope: Scope, deps: ScopeDeps): Promise<Caller> {
  try {
    const { id: keyId, maker, merchantId, merchantCurrency } = await authenticate(ctx, scope, deps);
    await deps.limitKey(keyId);
    return { merchantId, merchantCurrency, actor: { kind: 'key', keyId, maker } };
  } catch (error) {
    const isRefused = error instanceof DomainError && error.type === 'authentication_error';
    if (isRefused && error.code !== 'api_key_missing') await deps.refusedKeys?.(addressOf(ctx));
    throw error;
  }
}

function authenticate(ctx: Context, scope: Scope, { db, environment }: ScopeDeps) {
  return authenticateApiKey(db, {
    text: bearerToken(ctx.get('Authorization')),
    environment,
    scope,
    action: routeOf(ctx),
    address: addressOf(ctx),
    requestId: ctx.state.requestId,
    at: new Date(),
  });
}

function personAsCaller(person: Person, scope: Scope): Caller {
  if (!scopesOfRoles(person.roles).includes(scope)) throw permissionDenied(`no role with the scope ${scope}`);
  const { merchantId, merchantCurrency } = person;
  return { merchantId, merchantCurrency, actor: { kind: 'person', person } };
}

function bearerToken(header: string): string {
  const token = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (token !== undefined) return token;
  throw header === ''
    ? new DomainError('api_key_missing', 'Send your API key in the header Authorization: Bearer <key>.')
    : new DomainError('api_key_invalid', 'The Authorization header must read: Bearer <key>.');
}

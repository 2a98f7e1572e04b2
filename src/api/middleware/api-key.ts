// Admits callers with a valid key that has the scope of the route, or with a session in a role that has the scope.
import { scopesOfRoles, type Scope } from '../../domain/accounts/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/event.ts';
import { permissionDenied, type Person } from '../../domain/accounts/member.ts';
import {
  authenticateApiKey,
  recordKeyRefusal,
  type KeyRequest,
} from '../../operations/accounts/authenticate-api-key.ts';
import { addressOf, routeOf, sessionOf, type ApiContext, type ApiMiddleware, type Caller } from '../context.ts';
import type { VerifiedKey, VerifiedKeys } from '../verified-keys.ts';
import { readSessionToken } from '../session-cookie.ts';
import type { RefusedKeys } from './refused-keys.ts';
import { requireSession, type SessionDemands, type SessionDeps } from './session.ts';

type KeyCaller = Caller & { readonly actor: { readonly kind: 'key' } };
export type ScopeDeps = SessionDeps & {
  readonly environment: Environment;
  readonly refusedKeys: RefusedKeys;
  readonly verifiedKeys: VerifiedKeys;
};

export type ScopeDemands = {
  readonly scope: Scope;
  readonly confirmsKey: boolean;
  readonly session: SessionDemands;
};

/**
 * An Authorization header takes precedence over a cookie; without the header the session counts. A key without the
 * scope is refused with `insufficient_scope`. A key used from an address outside its allowed addresses, and a session
 * that lacks the scope or fails the demands, are refused with `permission_denied`. A later refusal of the key goes into
 * the audit log as these refusals do.
 */
export function requireScope({ scope, confirmsKey, session }: ScopeDemands, deps: ScopeDeps): ApiMiddleware {
  const enterSession = requireSession(deps, session);
  return async (ctx, next) => {
    const header = ctx.get('Authorization');
    if (header === '' && readSessionToken(ctx, deps.publicUrl) !== null) {
      await enterSession(ctx, async () => {
        ctx.state.caller = personAsCaller(sessionOf(ctx).person, scope);
        await next();
      });
      return;
    }
    let caller = (confirmsKey ? cachedCaller(ctx, scope, deps) : null) ?? (await verifyKey(ctx, scope, deps));
    try {
      await next();
    } catch (error) {
      // The error of the key comes before the errors of the request.
      if (ctx.state.cachedKey) caller = await verifyKey(ctx, scope, deps);
      const key = { id: caller.actor.keyId, merchantId: caller.merchantId };
      if (isRefusal(error)) await recordKeyRefusal(deps.db, key, error, keyRequest(ctx, scope));
      throw error;
    }
  };
}

/** The caller whose key was valid for such a request when it was last verified; null if there is none. */
function cachedCaller(ctx: ApiContext, scope: Scope, deps: ScopeDeps): KeyCaller | null {
  const key = findCached(ctx, scope, deps);
  if (key === null) return null;
  const { id: apiKeyId, merchantId, maker, rowVersion: version } = key;
  ctx.state.presentedKey = { apiKeyId, merchantId };
  ctx.state.cachedKey = { version, maker, verify: () => verifyKey(ctx, scope, deps) };
  ctx.state.keyCheckedAtMs = performance.now();
  // Another row says whether the maker is still a member, so there is no maker until that is confirmed.
  return enter(ctx, { ...key, maker: null });
}

function findCached(ctx: ApiContext, scope: Scope, { verifiedKeys }: ScopeDeps): VerifiedKey | null {
  return verifiedKeys.find(bearerToken(ctx.get('Authorization')), keyRequest(ctx, scope));
}

/** The caller whose key is valid for the request now. Throws the error of the key. */
async function verifyKey(ctx: ApiContext, scope: Scope, deps: ScopeDeps): Promise<KeyCaller> {
  try {
    const key = await authenticate(ctx, scope, deps);
    ctx.state.keyCheckedAtMs = performance.now();
    return enterVerified(ctx, key);
  } catch (error) {
    if (isWrongKey(error)) await deps.refusedKeys?.(addressOf(ctx));
    throw error;
  }
}

function enterVerified(ctx: ApiContext, key: VerifiedKey): KeyCaller {
  ctx.state.cachedKey = undefined;
  return enter(ctx, key);
}

function enter(ctx: ApiContext, { id: keyId, maker, merchantId, merchantCurrency }: VerifiedKey): KeyCaller {
  const caller = { merchantId, merchantCurrency, actor: { kind: 'key', keyId, maker } } as const;
  ctx.state.caller = caller;
  return caller;
}

// Most bodies arrive at once. Only a slow body costs another statement.
const CHECKED_FOR_MS = 1000;

/**
 * Throws as for a new request if the key was revoked, expired or lost this permission since its request began. Does
 * nothing without a key, or within a second of the last check. The handler confirms the row of a cached key; this
 * checks only the conditions that depend on time.
 */
export async function requireLiveKey(ctx: ApiContext, scope: Scope, deps: ScopeDeps): Promise<void> {
  const { keyCheckedAtMs } = ctx.state;
  if (keyCheckedAtMs === undefined || performance.now() - keyCheckedAtMs < CHECKED_FOR_MS) return;
  if (ctx.state.cachedKey && findCached(ctx, scope, deps) !== null) return;
  enterVerified(ctx, await authenticate(ctx, scope, deps));
}

/** Whether the error concerns the permission of this key, and not the request alone. */
function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && (error.type === 'permission_error' || error.reason !== undefined);
}

// A valid key without the scope is a mistake of the merchant, and neither a guess nor a theft.
function isWrongKey(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false;
  const isRejected = error.type === 'authentication_error' && error.code !== 'api_key_missing';
  return isRejected || error.code === 'permission_denied';
}

async function authenticate(
  ctx: ApiContext,
  scope: Scope,
  { db, environment, verifiedKeys }: ScopeDeps,
): Promise<VerifiedKey> {
  const text = bearerToken(ctx.get('Authorization'));
  const key = await authenticateApiKey(db, {
    text,
    environment,
    ...keyRequest(ctx, scope),
    onFound: ({ id: apiKeyId, merchantId }) => (ctx.state.presentedKey = { apiKeyId, merchantId }),
  });
  verifiedKeys.remember(text, key);
  return key;
}

function keyRequest(ctx: ApiContext, scope: Scope): KeyRequest {
  const { requestId } = ctx.state;
  return { scope, action: routeOf(ctx), address: addressOf(ctx), requestId, at: new Date() };
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

// Lets in who has a key in force with the scope that the route needs, or a session in a role that has it.
import type { Scope } from '../../domain/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import { permissionDenied, scopesOfRoles, type Person } from '../../domain/member.ts';
import { authenticateApiKey } from '../../operations/authenticate-api-key.ts';
import { sessionOf, type ApiDeps, type ApiMiddleware, type Caller } from '../context.ts';
import { readSessionToken } from '../session-cookie.ts';
import { requireSession } from './session.ts';

type ScopeDeps = Pick<ApiDeps, 'db' | 'environment' | 'publicUrl'>;

/**
 * An Authorization header decides, whatever cookie comes along; a session counts where there is none. A key is refused with
 * `insufficient_scope`, a session with `permission_denied`.
 */
export function requireScope(scope: Scope, deps: ScopeDeps): ApiMiddleware {
  const enterSession = requireSession(deps);
  return async (ctx, next) => {
    const header = ctx.get('Authorization');
    if (header === '' && readSessionToken(ctx, deps.publicUrl) !== null) {
      await enterSession(ctx, async () => {
        ctx.state.caller = personAsCaller(sessionOf(ctx).person, scope);
        await next();
      });
      return;
    }
    ctx.state.caller = await keyAsCaller(header, scope, deps);
    await next();
  };
}

async function keyAsCaller(header: string, scope: Scope, { db, environment }: ScopeDeps): Promise<Caller> {
  const key = await authenticateApiKey(db, bearerToken(header), environment, new Date());
  if (!key.scopes.includes(scope)) {
    throw new DomainError('insufficient_scope', `This key lacks the scope ${scope}. Use a key that has it.`);
  }
  if (scope === 'payouts:write' && key.maker === null) {
    throw new DomainError(
      'insufficient_scope',
      'The scope payouts:write counts no more: the person who made this key has left. Roll the key.',
    );
  }
  const { id: keyId, maker, merchantId, merchantCurrency, scopes } = key;
  return { merchantId, merchantCurrency, scopes, actor: { kind: 'key', keyId, maker } };
}

function personAsCaller(person: Person, scope: Scope): Caller {
  const scopes = scopesOfRoles(person.roles);
  if (!scopes.includes(scope)) throw permissionDenied(`no role with the scope ${scope}`);
  const { merchantId, merchantCurrency } = person;
  return { merchantId, merchantCurrency, scopes, actor: { kind: 'person', person } };
}

function bearerToken(header: string): string {
  const token = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (token !== undefined) return token;
  throw header === ''
    ? new DomainError('api_key_missing', 'Send your API key in the header Authorization: Bearer <key>.')
    : new DomainError('api_key_invalid', 'The Authorization header must read: Bearer <key>.');
}

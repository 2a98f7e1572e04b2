// Lets in who has a key in force with the scope that the route needs.
import type { Scope } from '../../domain/api-key.ts';
import { DomainError } from '../../domain/errors.ts';
import { authenticateApiKey } from '../../operations/authenticate-api-key.ts';
import type { ApiDeps, ApiMiddleware } from '../context.ts';

export function requireScope(scope: Scope, { db, environment }: Pick<ApiDeps, 'db' | 'environment'>): ApiMiddleware {
  return async (ctx, next) => {
    const text = bearerToken(ctx.get('Authorization'));
    const key = await authenticateApiKey(db, text, environment, new Date());
    if (!key.scopes.includes(scope)) {
      throw new DomainError('insufficient_scope', `This key lacks the scope ${scope}. Use a key that has it.`);
    }
    ctx.state.caller = key;
    await next();
  };
}

function bearerToken(header: string): string {
  const token = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (token !== undefined) return token;
  throw header === ''
    ? new DomainError('api_key_missing', 'Send your API key in the header Authorization: Bearer <key>.')
    : new DomainError('api_key_invalid', 'The Authorization header must read: Bearer <key>.');
}

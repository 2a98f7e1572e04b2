// Who may call a route, and how that is checked.
import type { Scope } from '../domain/accounts/api-key.ts';
import type { Role } from '../domain/accounts/member.ts';
import type { ApiDeps, ApiMiddleware } from './context.ts';
import { requireScope } from './middleware/api-key.ts';
import { refuseOtherSites, requireLiveSession, requireRole, requireSession } from './middleware/session.ts';

/**
 * The public API: a key with this scope, or a session in a role that has it. With `rolesAfterBody`, a session must
 * still be alive and in one of these roles once the body has arrived.
 */
export type PublicAccess = { readonly scope: Scope; readonly rolesAfterBody?: readonly [Role, ...Role[]] };

/** The console: a session in one of these roles. An owner has them all. */
export type RoleAccess = { readonly roles: readonly [Role, ...Role[]] };

/**
 * Besides these, `session`: a session in any role; and `anyone`: for people who have no session yet, refused only to
 * the pages of other sites.
 */
export type Access = PublicAccess | RoleAccess | 'session' | 'anyone';

export function isPublic(access: Access): access is PublicAccess {
  return typeof access === 'object' && 'scope' in access;
}

/**
 * Throws `permission_denied`, and for a key what is wrong with the key; puts the caller or the session into the state.
 */
export function requireAccess(deps: ApiDeps, access: Access): ApiMiddleware {
  if (access === 'session') return requireSession(deps);
  if (access === 'anyone') return refuseOtherSites(deps);
  return isPublic(access) ? requireScope(access.scope, deps) : requireRole(deps, access.roles);
}

/** A body may be under way for minutes: throws `permission_denied` when the session or the role has ended meanwhile. */
export async function requireAccessAfterBody(
  ctx: Parameters<ApiMiddleware>[0],
  deps: ApiDeps,
  access: Access,
): Promise<void> {
  if (access === 'session') await requireLiveSession(ctx, deps);
  else if (access !== 'anyone') {
    const roles = isPublic(access) ? access.rolesAfterBody : access.roles;
    if (roles) await requireLiveSession(ctx, deps, roles);
  }
}

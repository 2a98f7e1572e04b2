// Who may call a route, and the middleware that checks it.
import type { Scope } from '../domain/accounts/api-key.ts';
import type { Role } from '../domain/accounts/member.ts';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { requireLiveKey, requireScope, type ScopeDeps } from './middleware/api-key.ts';
import { refuseOtherSites, requireLiveSession, requireSession, type SessionDemands } from './middleware/session.ts';

/** A key with this scope, or a session in a role that has it; after the body, still in one of `rolesAfterBody`. */
export type PublicAccess = { readonly scope: Scope; readonly rolesAfterBody?: readonly [Role, ...Role[]] };

/** The console: a session in one of these roles. An owner has every role. */
export type RoleAccess = { readonly roles: readonly [Role, ...Role[]] };

/**
 * `session`: a session in any role. `ownSession`: also a session of a person who must still enrol the second factor
 * that their roles require. `anyone`: for people without a session; refused only to pages of other sites.
 */
export type Access = PublicAccess | RoleAccess | 'session' | 'ownSession' | 'anyone';

export type Requirements = {
  readonly access: Access;
  /** The person was verified within the last five minutes, by a log-in or step-up. A key needs no step-up. */
  readonly needsStepUp?: true;
  /** The handler itself confirms a cached key, by the version of its row. This saves a statement. */
  readonly confirmsKey?: true;
  /** The browser repeats it whether or not a person is present, so the request is no use of the session. */
  readonly isUse?: false;
};

export function isPublic(access: Access): access is PublicAccess {
  return typeof access === 'object' && 'scope' in access;
}

/** Sets the caller or the session in the state. Throws `permission_denied`, or the error of the key. */
export function requireAccess(deps: ScopeDeps, requirements: Requirements): ApiMiddleware {
  const { access } = requirements;
  if (access === 'anyone') return refuseOtherSites(deps);
  const demands = demandsOf(requirements);
  if (!isPublic(access)) return requireSession(deps, demands);
  return requireScope({ scope: access.scope, confirmsKey: requirements.confirmsKey === true, session: demands }, deps);
}

/** Checks access again after the body, which may take minutes to arrive. Throws as `requireAccess` does. */
export async function requireAccessAfterBody(
  ctx: ApiContext,
  deps: ScopeDeps,
  requirements: Requirements,
): Promise<void> {
  const { access } = requirements;
  if (access === 'anyone') return;
  const demands = demandsOf(requirements);
  if (isPublic(access)) await requireLiveKey(ctx, access.scope, deps);
  await requireLiveSession(ctx, deps, isPublic(access) ? { ...demands, roles: access.rolesAfterBody } : demands);
}

function demandsOf({ access, needsStepUp, isUse }: Requirements): SessionDemands {
  return {
    roles: typeof access === 'object' && 'roles' in access ? access.roles : undefined,
    isOpenToEnrol: access === 'ownSession',
    needsStepUp,
    isUse,
  };
}

// Who may call a route, and how that is checked.
import type { Scope } from '../domain/accounts/api-key.ts';
import type { Role } from '../domain/accounts/member.ts';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { requireLiveKey, requireScope, type ScopeDeps } from './middleware/api-key.ts';
import { refuseOtherSites, requireLiveSession, requireSession, type SessionDemands } from './middleware/session.ts';

/** A key with this scope, or a session in a role that has it; after the body, still in one of `rolesAfterBody`. */
export type PublicAccess = { readonly scope: Scope; readonly rolesAfterBody?: readonly [Role, ...Role[]] };

/** The console: a session in one of these roles. An owner has them all. */
export type RoleAccess = { readonly roles: readonly [Role, ...Role[]] };

/**
 * Besides these, `session`: a session in any role; `ownSession`: the same, also of a person who has yet to enrol the
 * second factor that their roles require; and `anyone`: for people who have no session yet, refused only to the pages
 * of other sites.
 */
export type Access = PublicAccess | RoleAccess | 'session' | 'ownSession' | 'anyone';

export type Requirements = {
  readonly access: Access;
  /** A person was verified within the last five minutes, by a log-in or step-up. Keys pass. */
  readonly needsStepUp?: true;
  /** The handler confirms a key that was verified before by the version of its row, which spares a statement. */
  readonly confirmsKey?: true;
  /** A browser asks for it whether or not anybody is there, so it is no use of the session. */
  readonly isUse?: false;
};

export function isPublic(access: Access): access is PublicAccess {
  return typeof access === 'object' && 'scope' in access;
}

/** Throws `permission_denied`, or what is wrong with the key. Puts the caller or the session into the state. */
export function requireAccess(deps: ScopeDeps, requirements: Requirements): ApiMiddleware {
  const { access } = requirements;
  if (access === 'anyone') return refuseOtherSites(deps);
  const demands = demandsOf(requirements);
  if (!isPublic(access)) return requireSession(deps, demands);
  return requireScope({ scope: access.scope, confirmsKey: requirements.confirmsKey === true, session: demands }, deps);
}

/** Bodies take minutes to arrive: throws what `requireAccess` throws for a caller who has lost access meanwhile. */
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

// Lets in people with a session and the role of the route, from our own pages; records every refusal of a person.
import { REFUSALS } from '../../domain/accounts/audit.ts';
import { DomainError } from '../../domain/errors.ts';
import { holdsOneOf, permissionDenied, type Role } from '../../domain/accounts/member.ts';
import { authenticateSession } from '../../operations/accounts/authenticate-session.ts';
import { recordRefusal } from '../../operations/accounts/record-refusal.ts';
import { auditOf, routeOf, sessionOf, type ApiDeps, type ApiMiddleware } from '../context.ts';
import { readSessionToken } from '../session-cookie.ts';

type SessionDeps = Pick<ApiDeps, 'db' | 'publicUrl'>;
type Context = Parameters<ApiMiddleware>[0];

const SAFE_METHODS = new Set(['GET', 'HEAD']);
// Only what has the form of an id goes into the audit log.
const ID_FORM = /^[a-z]{3}_[0-9a-z]{1,40}$/;

/**
 * Refuses with `permission_denied` a request without a live session, and one that changes something unless it comes
 * from our own pages. Every refusal of a person, here or in what follows, goes into the audit log.
 */
export function requireSession(deps: SessionDeps): ApiMiddleware {
  return async (ctx, next) => {
    const token = readSessionToken(ctx, deps.publicUrl);
    const session = token === null ? null : await authenticateSession(deps.db, token, new Date());
    if (!session) throw permissionDenied('no session');
    ctx.state.session = session;
    try {
      if (!SAFE_METHODS.has(ctx.method)) requireOwnPage(ctx, deps.publicUrl);
      await next();
    } catch (error) {
      if (error instanceof DomainError && REFUSALS.has(error.code)) await record(ctx, deps, error);
      throw error;
    }
  };
}

/** Requires a session as `requireSession` does, of a person in one of these roles. An owner has them all. */
export function requireRole(deps: SessionDeps, roles: readonly [Role, ...Role[]]): ApiMiddleware {
  const enterSession = requireSession(deps);
  return async (ctx, next) => {
    await enterSession(ctx, async () => {
      if (!holdsOneOf(sessionOf(ctx).person.roles, roles)) {
        throw permissionDenied(`needs a role of: ${roles.join(', ')}`);
      }
      await next();
    });
  };
}

/**
 * Refuses with `permission_denied` a request whose session has ended meanwhile, or whose person has none of these roles
 * any more, if roles are given. A request without a session passes.
 */
export async function requireLiveSession(ctx: Context, deps: SessionDeps, roles?: readonly Role[]): Promise<void> {
  if (!ctx.state.session) return;
  const session = await authenticateSession(deps.db, readSessionToken(ctx, deps.publicUrl) ?? '', new Date());
  const isStillIn = session !== null && (!roles || holdsOneOf(session.person.roles, roles));
  if (!isStillIn) throw permissionDenied('the session or the role ended while the request came in');
  ctx.state.session = session;
}

/**
 * For routes that open a session, where there is none yet that another site could misuse: a browser names the site that
 * it comes from, and any other than ours is refused. Other clients need not name one.
 */
export function refuseOtherSites({ publicUrl }: Pick<ApiDeps, 'publicUrl'>): ApiMiddleware {
  return async (ctx, next) => {
    const origin = ctx.get('Origin');
    if (origin !== '' && origin !== new URL(publicUrl).origin) throw permissionDenied('from another site');
    await next();
  };
}

// A page of another site can neither set the header without a preflight request, nor send our Origin.
function requireOwnPage(ctx: Context, publicUrl: string): void {
  if (ctx.get('Malipo-Console') !== '1') throw permissionDenied('without the header Malipo-Console');
  if (ctx.get('Origin') !== new URL(publicUrl).origin) throw permissionDenied('not from our own pages');
}

async function record(ctx: Context, { db }: SessionDeps, error: DomainError): Promise<void> {
  const { params } = ctx as { params?: { id?: string } };
  const id = params?.id ?? '';
  await recordRefusal(db, {
    by: auditOf(ctx),
    action: routeOf(ctx),
    subjectId: ID_FORM.test(id) ? id : null,
    reason: error.reason ?? error.message,
    at: new Date(),
  });
}

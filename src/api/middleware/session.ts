// Lets in who has a session, from our own pages, in a role that may; keeps on record whom it refuses.
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
// What is put on record is ours to read: an id, or nothing.
const ID_FORM = /^[a-z]{3}_[0-9a-z]{1,40}$/;

/**
 * Refuses with `permission_denied` who has no session that lives, and what changes something unless it comes from our own
 * pages. Every refusal of a person, here or further on, is in the audit log.
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

/** Lets in people in one of these roles; an owner has them all. Requires the session too, where nothing before it did. */
export function requireRole(deps: SessionDeps, ...roles: readonly [Role, ...Role[]]): ApiMiddleware {
  const enterSession = requireSession(deps);
  const checkRole = async (ctx: Context, next: () => Promise<unknown>): Promise<void> => {
    if (!holdsOneOf(sessionOf(ctx).person.roles, roles)) throw permissionDenied(`needs a role of: ${roles.join(', ')}`);
    await next();
  };
  return async (ctx, next) => {
    if (ctx.state.session) await checkRole(ctx, next);
    else await enterSession(ctx, () => checkRole(ctx, next));
  };
}

/**
 * After a body, which may have been under way for minutes: the session lives still, in one of these roles if they are given. Where
 * a key was let in there is nothing to look at.
 */
export function requireSessionStill(deps: SessionDeps, roles?: readonly Role[]): ApiMiddleware {
  return async (ctx, next) => {
    if (ctx.state.session) {
      const session = await authenticateSession(deps.db, readSessionToken(ctx, deps.publicUrl) ?? '', new Date());
      const isStillIn = session !== null && (!roles || holdsOneOf(session.person.roles, roles));
      if (!isStillIn) throw permissionDenied('the session or the role ended while the request came in');
      ctx.state.session = session;
    }
    await next();
  };
}

/**
 * For what opens a session, where there is none yet that another site could misuse: a browser says from which site it comes,
 * and another site's log-in is not taken. Other clients need not say it.
 */
export function refuseOtherSites({ publicUrl }: Pick<ApiDeps, 'publicUrl'>): ApiMiddleware {
  return async (ctx, next) => {
    const origin = ctx.get('Origin');
    if (origin !== '' && origin !== new URL(publicUrl).origin) throw permissionDenied('from another site');
    await next();
  };
}

// A page of another site can neither set the header without asking first, nor pass for us in Origin.
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

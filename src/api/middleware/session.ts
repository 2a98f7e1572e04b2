// Admits people whose session meets the demands of the route, from our own pages. Records every refusal of a person.
import { REFUSALS } from '../../domain/accounts/audit.ts';
import { DomainError } from '../../domain/errors.ts';
import {
  holdsOneOf,
  isFreshlyVerified,
  mustEnrol,
  notAuthenticated,
  permissionDenied,
  type Person,
  type Role,
} from '../../domain/accounts/member.ts';
import type { Session } from '../../domain/accounts/session.ts';
import type { Database } from '../../db/platform/database.ts';
import { authenticateSession } from '../../operations/accounts/authenticate-session.ts';
import { recordRefusal } from '../../operations/accounts/audit-log.ts';
import { auditOf, pathIdOf, routeOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import { NO_SESSION } from '../refusal-log.ts';
import type { RefusalTally } from '../refusal-tally.ts';
import { CLEARED_SITE_DATA, readSessionToken } from '../session-cookie.ts';

export type SessionDeps = {
  readonly db: Database;
  readonly publicUrl: string;
  readonly refusals: RefusalTally;
};

const SAFE_METHODS = new Set(['GET', 'HEAD']);
// Only a text in the form of an id goes into the audit log.
const ID_FORM = /^[a-z]{3}_[0-9a-z]{1,40}$/;

/** The conditions that a route sets for a session, besides that it is active. */
export type SessionDemands = {
  /** One of these roles. An owner has every role. */
  readonly roles?: readonly Role[] | undefined;
  /** For a person's own session: open before enrolment of the second factor that the person's roles require. */
  readonly isOpenToEnrol?: boolean | undefined;
  /** The person was verified within the last five minutes. */
  readonly needsStepUp?: boolean | undefined;
  /** Whether a request shows that its person is present. Default: it does. */
  readonly isUse?: boolean | undefined;
};

/** Our pages send it with requests that no person asked for. Without it a request counts as use of the session. */
const BACKGROUND = 'Malipo-Background';

/** The merchant that a page of ours shows. Pages share the cookie, so the session may be for another one by now. */
const SHOWN_MERCHANT = 'Malipo-Merchant';

/**
 * Refuses with `permission_denied` a request without a live session, an unsafe request that does not come from our own
 * pages, a request from a page that shows another merchant, and a session that does not meet the demands. Every refusal
 * of a person, here or in later middleware, goes into the audit log.
 */
export function requireSession(deps: SessionDeps, demands: SessionDemands): ApiMiddleware {
  return async (ctx, next) => {
    const at = new Date();
    const session = await findLiveSession(ctx, deps, demands, at);
    if (!session)
      throw notAuthenticated(readSessionToken(ctx, deps.publicUrl) === null ? NO_SESSION : 'no such session');
    requireShownMerchant(ctx, session);
    ctx.state.session = session;
    try {
      if (!SAFE_METHODS.has(ctx.method)) requireOwnPage(ctx, deps.publicUrl);
      requireDemands(session.person, demands, at);
      await next();
    } catch (error) {
      if (error instanceof DomainError && REFUSALS.has(error.code)) await record(ctx, deps, error);
      throw error;
    }
  };
}

/** Throws `permission_denied` if the session has ended meanwhile, or meets the demands no longer. */
export async function requireLiveSession(ctx: ApiContext, deps: SessionDeps, demands: SessionDemands): Promise<void> {
  if (!ctx.state.session) return;
  const at = new Date();
  const session = await findLiveSession(ctx, deps, demands, at);
  if (!session) throw notAuthenticated('the session ended while the request came in');
  requireDemands(session.person, demands, at);
  ctx.state.session = session;
}

// Not recorded in the audit log: the page is refused, not the person, and it may ask every few seconds.
function requireShownMerchant(ctx: ApiContext, { person }: Session): void {
  const shown = ctx.get(SHOWN_MERCHANT);
  if (shown === '' || shown === person.merchantId) return;
  throw new DomainError(
    'permission_denied',
    'Your session is now for another merchant than this page shows. Load the page again.',
    { reason: 'the page shows another merchant' },
  );
}

// The cookie itself stays: the browser may have a newer one by now, which this response would delete.
async function findLiveSession(
  ctx: ApiContext,
  { db, publicUrl }: SessionDeps,
  { isUse = true }: SessionDemands,
  at: Date,
): Promise<Session | null> {
  const token = readSessionToken(ctx, publicUrl);
  if (token === null) return null;
  const session = await authenticateSession(db, { token, isUse: isUse && !isBackground(ctx), at });
  if (session === null) ctx.set('Clear-Site-Data', CLEARED_SITE_DATA);
  return session;
}

// Nothing changes anything by itself: a person is present when such a request is sent.
function isBackground(ctx: ApiContext): boolean {
  return SAFE_METHODS.has(ctx.method) && ctx.get(BACKGROUND) === '1';
}

function requireDemands(person: Person, { roles, isOpenToEnrol, needsStepUp }: SessionDemands, at: Date): void {
  if (isOpenToEnrol !== true && mustEnrol(person)) throw permissionDenied('must still enrol a second factor');
  if (roles && !holdsOneOf(person.roles, roles)) throw permissionDenied(`needs a role of: ${roles.join(', ')}`);
  if (needsStepUp === true && !isFreshlyVerified(person, at)) throw permissionDenied('needs a step-up first');
}

/**
 * For routes that open a session, before there is one that another site could misuse. A browser names the site of the
 * page; any site except ours is refused. Other clients need not name a site.
 */
export function refuseOtherSites({ publicUrl }: Pick<SessionDeps, 'publicUrl'>): ApiMiddleware {
  return async (ctx, next) => {
    const origin = ctx.get('Origin');
    if (origin !== '' && origin !== new URL(publicUrl).origin) throw notAuthenticated('from another site');
    await next();
  };
}

// A page of another site can neither set the header without a preflight request, nor send our Origin.
function requireOwnPage(ctx: ApiContext, publicUrl: string): void {
  if (ctx.get('Malipo-Console') !== '1') throw permissionDenied('without the header Malipo-Console');
  if (ctx.get('Origin') !== new URL(publicUrl).origin) throw permissionDenied('not from our own pages');
}

async function record(ctx: ApiContext, { db, refusals }: SessionDeps, error: DomainError): Promise<void> {
  refusals.add();
  const id = pathIdOf(ctx);
  await recordRefusal(db, {
    by: auditOf(ctx),
    action: routeOf(ctx),
    subjectId: ID_FORM.test(id) ? id : null,
    reason: error.reason ?? error.message,
    at: new Date(),
  });
}

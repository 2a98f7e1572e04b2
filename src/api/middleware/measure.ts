// Reports every request by its route, never by its path: many paths must not make many series, and a path may contain
// what only a payer knows.
import type { ApiKeyId, MerchantId, UserId } from '../../domain/ids.ts';
import type { PaymentId } from '../../domain/payments/payment.ts';
import { isPaymentId } from '../../domain/trace.ts';
import { pathIdOf, storedIdOf, type ApiContext, type ApiMiddleware } from '../context.ts';
import type { Route } from '../route.ts';

export type AnsweredRequest = {
  readonly requestId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  readonly merchantId: MerchantId | undefined;
  /** The API key that made it, or the person in whose session it was made. */
  readonly keyId: ApiKeyId | undefined;
  readonly personId: UserId | undefined;
  readonly paymentId: PaymentId | undefined;
  /** The error behind a response with 5xx; undefined if there was none. */
  readonly failure: unknown;
  /** The header as the caller sent it; empty if there was none. */
  readonly traceparent: string;
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
export const REQUEST_METHODS = [...METHODS, 'other'];

/** Pages and files outside the API, each with all paths below it. */
const PAGES = ['/console', '/docs', '/pay'];
const UNROUTED = 'unrouted';

/** All names of routes: the path templates of the API, the pages, and one name for every other path. */
export function routeNames(routes: readonly Pick<Route, 'path'>[]): string[] {
  return [...new Set([...routes.map(({ path }) => path), ...PAGES, UNROUTED])];
}

/** The template of the route that matches a path; undefined if none does. A literal path takes precedence. */
export function createRouteFinder(routes: readonly Pick<Route, 'path'>[]): (path: string) => string | undefined {
  const literal = new Set(routes.map(({ path }) => path));
  const templates = [...literal].map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}$`),
  }));
  return (path) => (literal.has(path) ? path : templates.find(({ pattern }) => pattern.test(path))?.path);
}

/** Finds each request's route, and calls `onAnswered` once its response begins, also for a request that was limited. */
export function measureRequests(
  findRoute: (path: string) => string | undefined,
  onAnswered: ((request: AnsweredRequest) => void) | undefined,
): ApiMiddleware {
  return async (ctx, next) => {
    const beganMs = performance.now();
    const route = findRoute(ctx.path);
    ctx.state.route = route;
    try {
      await next();
    } finally {
      onAnswered?.({
        method: METHODS.includes(ctx.method) ? ctx.method : 'other',
        route: route ?? pageOf(ctx.path) ?? UNROUTED,
        status: ctx.status,
        seconds: (performance.now() - beganMs) / 1000,
        ...whoAndWhat(ctx),
      });
    }
  };
}

function whoAndWhat(ctx: ApiContext) {
  const { requestId, caller, session, failure } = ctx.state;
  const person = session?.person ?? (caller?.actor.kind === 'person' ? caller.actor.person : undefined);
  return {
    requestId,
    merchantId: caller?.merchantId ?? person?.merchantId,
    keyId: caller?.actor.kind === 'key' ? caller.actor.keyId : undefined,
    personId: person?.userId,
    paymentId: paymentOf(ctx),
    failure,
    traceparent: ctx.get('traceparent'),
  };
}

// A created object takes precedence over the object in the path: a refund is requested by the id of its collection. The
// path id of a refused request proves nothing: it may name a payment of another merchant.
function paymentOf(ctx: ApiContext): PaymentId | undefined {
  const named = ctx.status < 400 ? pathIdOf(ctx) : undefined;
  return ctx.state.paymentId ?? [storedIdOf(ctx), named].find(isPaymentId);
}

function pageOf(path: string): string | undefined {
  return PAGES.find((page) => path === page || path.startsWith(`${page}/`));
}

// Measures every request by its route, never by its path: whoever asks for many paths must not make many series.
import type { ApiMiddleware } from '../context.ts';
import type { Route } from '../route.ts';

export type MeasuredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
export const REQUEST_METHODS = [...METHODS, 'other'];

/** Pages and files that are no routes of the API, each with all that is below it. */
const PAGES = ['/console', '/docs', '/pay'];
const UNROUTED = 'unrouted';

/** All that a route may be called: the templates of the API's routes, the pages, and every other path as one. */
export function routeNames(routes: readonly Pick<Route, 'path'>[]): string[] {
  return [...new Set([...routes.map(({ path }) => path), ...PAGES, UNROUTED])];
}

/** The template of the route that a path leads to; undefined for none. A literal path goes before a template. */
export function createRouteFinder(routes: readonly Pick<Route, 'path'>[]): (path: string) => string | undefined {
  const literal = new Set(routes.map(({ path }) => path));
  const templates = [...literal].map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{[a-z_]+\}/g, '[^/]+')}$`),
  }));
  return (path) => (literal.has(path) ? path : templates.find(({ pattern }) => pattern.test(path))?.path);
}

/** Finds each request's route, and calls `onAnswered` once its response begins, also for one that a limit refused before. */
export function measureRequests(
  findRoute: (path: string) => string | undefined,
  onAnswered: ((request: MeasuredRequest) => void) | undefined,
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
      });
    }
  };
}

function pageOf(path: string): string | undefined {
  return PAGES.find((page) => path === page || path.startsWith(`${page}/`));
}
